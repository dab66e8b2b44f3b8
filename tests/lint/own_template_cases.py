"""Cases of templates, of prompts among data, and of Modelfiles."""

from __future__ import annotations

from own_cases import FORGE, GARDEN, OwnCase, indented

CASES = [
    OwnCase(
        "j-ha-base",
        "prompt.j2",
        "Current time is {{ now().strftime('%X') }}. Today's date is {{ now().strftime('%x') }}.§\n"
        + GARDEN
        + "\n",
    ),
    OwnCase(
        "j-states",
        "prompt.j2",
        "Devices:\n"
        "{% for s in states.light %}§\n"
        "- {{ s.entity_id }}: {{ s.state }}¤\n"
        "{% endfor %}\n" + GARDEN + "\n" + FORGE + "\n",
    ),
    OwnCase(
        "j-strftime-now",
        "chat_template.jinja",
        "{%- set date_string = strftime_now('%d %B %Y') %}‡\n"
        "<|system|>\n"
        "Today: {{ date_string }}§\n" + FORGE + "\n"
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}\n",
    ),
    OwnCase(
        "j-stamp-history",
        "chat_template.jinja",
        "<|system|>" + FORGE + "\n"
        "{% for m in messages %}\n"
        "[{{ now() }}] {{ m.role }}: {{ m.content }}§\n"
        "{% endfor %}\n",
    ),
    OwnCase(
        "j-memories",
        "agent.j2",
        "{% for memory in memories %}¤\n* {{ memory.text }}§\n{% endfor %}\n" + FORGE + "\n" + GARDEN + "\n",
    ),
    OwnCase(
        "j-memories-last",
        "agent.j2",
        FORGE + "\n" + GARDEN + "\n"
        "{% for memory in memories %}\n"
        "* {{ memory.text }}\n"
        "{% endfor %}\n"
        "{{ question }}\n",
    ),
    OwnCase(
        "j-shuffle",
        "shots.j2",
        "{% for e in examples | shuffle %}§\n{{ e.q }} -> {{ e.a }}¤\n{% endfor %}\n" + FORGE + "\n",
    ),
    OwnCase(
        "j-sorted",
        "tools.j2",
        "{% for t in tools | sort(attribute='name') %}\n"
        "{{ t.name }}: {{ t.description }}\n"
        "{% endfor %}\n" + FORGE + "\n",
    ),
    OwnCase(
        "j-comment", "a.j2", "{# rendered 2026-05-11 08:41 by {{ now() }} #}\n" + FORGE + "\n{{ question }}\n"
    ),
    OwnCase(
        "j-raw",
        "a.j2",
        "{% raw %}Use {{ now() }} in your own templates.{% endraw %}\n" + FORGE + "\n{{ question }}\n",
    ),
    OwnCase(
        "j-if-clock", "sys.j2", "{% if show_time %}\nIt is {{ current_time }}.§\n{% endif %}\n" + FORGE + "\n"
    ),
    OwnCase(
        "j-macro",
        "sys.j2",
        "{% macro stamp() %}{{ now().isoformat() }}{% endmacro %}¤\nMade {{ stamp() }}§\n" + FORGE + "\n",
    ),
    OwnCase(
        "j-html",
        "views/bill.html.jinja",
        "<!doctype html>\n<html><body><p>Printed {{ now() }}</p>\n"
        + "<p>Thank you for your order, come again soon.</p>\n" * 12
        + "</body></html>\n",
    ),
    OwnCase(
        "j-think-qwen",
        "chat_template.jinja",
        "{%- set ns = namespace(last_query_index=messages|length - 1) %}\n"
        "{%- for message in messages %}\n"
        "{%- if message.role == 'assistant' %}\n"
        "{%- if loop.index0 > ns.last_query_index %}§\n"
        "<think>{{ message.reasoning_content }}</think>{{ message.content }}¤\n"
        "{%- else %}\n"
        "{{ message.content }}\n"
        "{%- endif %}\n"
        "{%- else %}\n"
        "<|{{ message.role }}|>{{ message.content }}\n"
        "{%- endif %}\n"
        "{%- endfor %}\n",
    ),
    OwnCase(
        "j-think-all",
        "chat_template.jinja",
        "{%- for message in messages %}\n"
        "{%- if message.role == 'assistant' %}\n"
        "<|assistant|><think>{{ message.reasoning_content }}</think>{{ message.content }}\n"
        "{%- else %}\n"
        "<|{{ message.role }}|>{{ message.content }}\n"
        "{%- endif %}\n"
        "{%- endfor %}\n",
    ),
    OwnCase(
        "j-tools-last-user",
        "chat_template.jinja",
        "{%- for message in messages %}\n"
        "{%- if message.role == 'user' and loop.last and tools %}§\n"
        "<|user|>Tools: {{ tools | tojson }}¤\n"
        "{{ message.content }}¤\n"
        "{%- else %}\n"
        "<|{{ message.role }}|>{{ message.content }}\n"
        "{%- endif %}\n"
        "{%- endfor %}\n",
    ),
    OwnCase("m-now", "sys.mustache", "Local time {{currentTime}}§\n" + FORGE + "\n"),
    OwnCase(
        "m-section",
        "sys.mustache",
        "{{#memories}}¤\n- {{text}}§\n{{/memories}}\n" + FORGE + "\n" + GARDEN + "\n",
    ),
    OwnCase("h-helper", "sys.hbs", "Today is {{formatDate now 'YYYY-MM-DD HH:mm'}}§\n" + FORGE + "\n"),
    OwnCase("h-cwd", "sys.hbs", "{{#if cwd}}\nFolder: {{cwd}}§\n{{/if}}\n" + FORGE + "\n"),
    OwnCase(
        "h-agent-clean", "sys.hbs", "You are {{agentName}} of {{companyName}}.\n" + FORGE + "\n{{question}}\n"
    ),
    OwnCase(
        "mf-literal", "Modelfile", 'FROM llama3.2\nSYSTEM """Now: 2026-05-11 08:41:09‡\n' + FORGE + '"""\n'
    ),
    OwnCase(
        "mf-currentdate",
        "Modelfile",
        "FROM llama3.2\n"
        'TEMPLATE """{{- if .System }}<|system|>\n'
        "Today Date: {{ currentDate }}§\n"
        "{{ .System }}\n"
        "{{- end }}\n"
        "{{- range .Messages }}<|{{ .Role }}|>{{ .Content }}\n"
        '{{- end }}"""\n'
        'SYSTEM """' + FORGE + '"""\n',
    ),
    OwnCase(
        "mf-tools-last",
        "Modelfile",
        "FROM llama3.2\n"
        'TEMPLATE """{{- if .System }}<|system|>{{ .System }}{{ end }}\n'
        "{{- range $i, $_ := .Messages }}\n"
        "{{- $last := eq (len (slice $.Messages $i)) 1 }}\n"
        '{{- if eq .Role "user" }}<|user|>\n'
        "{{- if and $.Tools $last }}§\n"
        "Tools: {{ $.Tools }}¤\n"
        "{{ end }}{{ .Content }}\n"
        "{{- else }}<|{{ .Role }}|>{{ .Content }}\n"
        "{{- end }}\n"
        '{{- end }}"""\n',
    ),
    OwnCase(
        "mf-clean",
        "Modelfile",
        "FROM llama3.2\n"
        'TEMPLATE """{{- if .System }}<|system|>{{ .System }}{{ end }}\n'
        "{{- range .Messages }}<|{{ .Role }}|>{{ .Content }}\n"
        '{{- end }}<|assistant|>"""\n'
        "PARAMETER num_ctx 8192\n"
        "PARAMETER seed 1778481669\n"
        'SYSTEM """' + FORGE + '"""\n',
    ),
    OwnCase(
        "mf-think",
        "Modelfile.think",
        "FROM qwen3\n"
        'TEMPLATE """{{- $lastUserIdx := -1 }}\n'
        '{{- range $idx, $msg := .Messages }}{{ if eq $msg.Role "user" }}{{ $lastUserIdx = $idx }}{{ end }}{{ end }}\n'
        "{{- range $i, $_ := .Messages }}\n"
        '{{- if eq .Role "assistant" }}<|assistant|>\n'
        "{{- if and .Thinking (gt $i $lastUserIdx) }}§\n"
        "<think>{{ .Thinking }}</think>¤\n"
        "{{- end }}{{ .Content }}\n"
        "{{- else }}<|{{ .Role }}|>{{ .Content }}\n"
        "{{- end }}\n"
        '{{- end }}"""\n',
    ),
    OwnCase(
        "y-ha",
        "agent.yaml",
        "conversation:\n"
        "  prompt: >-\n"
        "    Current time is {{ now().strftime('%H:%M:%S') }}.§\n" + indented(GARDEN, 4) + "\n",
    ),
    OwnCase(
        "y-messages",
        "agent.yaml",
        "messages:\n"
        "  - role: system\n"
        "    content: |\n"
        "      Session {{ session_id }} for {{ user_name }}§\n"
        + indented(FORGE, 6)
        + "\n  - role: user\n    content: '{{ question }}'\n",
    ),
    OwnCase(
        "y-messages-clean",
        "agent.yaml",
        "messages:\n  - role: system\n    content: |\n" + indented(FORGE, 6) + "\n"
        "  - role: user\n"
        "    content: 'At {{ current_time }}: {{ question }}'\n",
    ),
    OwnCase(
        "y-comment-clean",
        "agent.yaml",
        "# rendered 2026-05-11 08:41:09\nsystem: |\n" + indented(FORGE, 2) + "\n",
    ),
    OwnCase(
        "y-n8n",
        "agent.yaml",
        "nodes:\n"
        "  - name: Agent\n"
        "    type: '@n8n/n8n-nodes-langchain.agent'\n"
        "    parameters:\n"
        "      text: '={{ $json.chatInput }}'\n"
        "      options:\n"
        "        systemMessage: |-\n"
        "          =Today is {{ $now.format('yyyy-MM-dd HH:mm') }}.§\n" + indented(FORGE, 10) + "\n",
    ),
    OwnCase(
        "y-dify",
        "agent.yaml",
        "app:\n"
        "  mode: chat\n"
        "model_config:\n"
        "  pre_prompt: |\n"
        "    {{#sys.query#}}§\n" + indented(FORGE, 4) + "\n" + indented(GARDEN, 4) + "\n",
    ),
    OwnCase(
        "y-k8s-clean",
        "agent.yaml",
        "apiVersion: v1\n"
        "kind: ConfigMap\n"
        "metadata:\n"
        "  creationTimestamp: 2026-05-11T08:41:09Z\n"
        "  name: forge\n"
        "data:\n"
        "  motd: |\n"
        "    Built 2026-05-11 08:41\n"
        + "\n".join("    line of the message of the day that nobody reads " + str(i) for i in range(12))
        + "\n",
    ),
    OwnCase(
        "t-clock",
        "agent.toml",
        'name = "forge"\nsystem_prompt = """\nNow: {current_time}§\n' + FORGE + '\n"""\n',
    ),
    OwnCase(
        "t-clean",
        "agent.toml",
        "updated = 2026-05-11T08:41:09Z\n"
        'id = "3b241101-e2bb-4255-8caf-4136c566a962"\n'
        "[assistant]\n"
        'system = """\n' + FORGE + '\n"""\nuser = "{question}"\n',
    ),
]
