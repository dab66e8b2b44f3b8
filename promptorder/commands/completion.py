"""``promptorder completion``: the shell script that completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(name="completion", short_help="Print the completion script of your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print a script that completes commands and options.

    \b
    bash:  echo 'eval "$(promptorder completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(promptorder completion zsh)"' >> ~/.zshrc
    fish:  promptorder completion fish > ~/.config/fish/completions/promptorder.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None
    root = ctx.find_root().command
    click.echo(completion(root, {}, "promptorder", "_PROMPTORDER_COMPLETE").source())
    return 0
