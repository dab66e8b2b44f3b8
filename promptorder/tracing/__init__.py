"""What a replayed trace comes to, added up while it goes on and after it. Pure."""
