"""What names of placeholders and variables say: a table, and the tricky ones beside the plain ones."""

from __future__ import annotations

import pytest

from promptorder.lint._names import kind_of_name

NAMES = {
    "clock-variable": """
        now timestamp current_time currentTime CURRENT_TIME current_datetime currentDateTime
        CURRENT_DATETIME datetime date_time utcnow utc_now now_iso now_str time time_now local_time
        server_time system_time request_time request_timestamp message_timestamp current_timestamp
        epoch epoch_ms unix_timestamp clock wall_clock LOCAL_TIME ctx.now session.current_time $now
        current_moment time_string timeString current_time_utc isotime CURRENT_TIME_UTC now_utc
        rendered_timestamp iso_timestamp
    """,
    "date-variable": """
        today date current_date currentDate CURRENT_DATE today_date todays_date todaysDate
        date_today current_day weekday CURRENT_WEEKDAY current_weekday day_of_week dayOfWeek
        tomorrow yesterday date_str date_string dateString today_str todayStr ctx.today
        current_date_str formatted_date todays_date_iso
    """,
    "request-id": """
        request_id requestId REQUEST_ID req_id session_id sessionId conversation_id thread_id
        trace_id traceId span_id run_id message_id msg_id chat_id correlation_id invocation_id uuid
        request_uuid session_uuid guid nonce cache_buster cacheBuster job_id task_id call_id
        transaction_id ulid random_id unique_id session.id request.id ticket_id ticketId order_id
        case_id ticket_number ticketNumber order_number request_hash
    """,
    "counter": """
        turn turn_number turn_count step step_number current_step iteration attempt attempt_number
        counter message_count remaining_tokens tokens_remaining tokens_left remaining_turns
        turns_remaining iteration_count retries retry_count remaining_steps request_count steps_left
    """,
    "environment": """
        cwd pwd workdir working_dir working_directory workingDirectory current_directory git_status
        gitStatus git_branch branch hostname host_name os_version os_info environment_details
        workspace_path workspace_root repo_path file_tree directory_listing current_file open_files
        env_info system_info env.cwd project_path git_diff cursor_position directory_tree open_tabs
    """,
    "user-data": """
        user user_name userName username USER_NAME customer customer_name first_name firstName
        last_name full_name user_profile userProfile user_email email user_location location city
        user_info user.name user_preferences customer.name client_name member_name visitor
        patient_name student_name employee phone_number user_language user_id userId customer_id
        nickname user_bio account_id display_name
    """,
    "retrieved-context": """
        context memory memories notes snippets chunks passages retrieved_docs retrieved_documents
        search_results results facts entities state sources evidence summary conversation_summary
        chat_summary rag_context retrieved_context knowledge documents docs observations
        long_term_memory relevant_docs related_passages user_memories memory_block page_state
        entity_states web_results tool_results current_state game_state recent_events
    """,
    "question-first": """
        question query user_query user_question user_input userInput userMessage user_message input
        ticket ticket_text ticket_body issue complaint inquiry user_request request prompt
        search_query email_body customer_message latest_message last_message human_input
        current_message sys.query $json.chatInput task chat_input user_prompt new_message
    """,
    "document-first": """
        document article transcript paper letter essay report contract page document_text article_text file_content
    """,
    "history": """
        history chat_history chatHistory messages conversation conversation_history dialogue dialog
        turns message_history agent_scratchpad scratchpad previous_messages past_messages
        recent_messages loop_messages chat_log conversation_log
    """,
    "static-part": """
        system_prompt systemPrompt system_message instructions base_instructions rules guidelines
        tools tool_descriptions tool_definitions persona policy handbook schema output_schema
        state_schema format_instructions examples few_shot_examples functions
    """,
    "": """
        time_limit timelimit time_zone timezone timeout time_budget time_format time_range timeframe
        time_slots run_time lifetime model_id model_name template_name template_id company_name
        product_name assistant_name agent_name bot_name tool_name tool_names char_name brand_name
        site SITE app_name max_tokens token_limit max_steps num_steps step_size max_iterations
        max_retries max_turns date_format date_of_birth birth_date birthdate created_at created_date
        updated_at due_date publish_date release_date start_date end_date expiry_date
        knowledge_cutoff knowledge_cutoff_date cutoff_date valid_until output_language language
        target_language source_language tone style domain topic role title label labels categories
        category count limit index number temperature top_p seed version API_KEY api_key url
        base_url locale_format num_results max_results result_format context_window context_length
        context_size memory_limit document_type doc_type page_size page_number file_format
        query_language question_format question_count input_format input_language prompt_version
        user_role user_type user_instructions updates day_rate daily_limit holiday birthday monday
        runtime downtime realtime sometimes timeline times nowhere knowledge_base_name max_facts
        memory_dir summary_prefix context_header example_messages few_shot_messages system_messages
        bos_token eos_token add_generation_prompt separator name x i item value company organization
        team
    """,
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind, names in NAMES.items() for name in names.split()]
)
def test_kind_of_name(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


def test_the_table_is_large() -> None:
    assert sum(len(names.split()) for names in NAMES.values()) > 300
