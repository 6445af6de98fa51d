# A deployment as its defaults make it.

mock_provider "google" {
  source = "./tests/mocks"
}

mock_provider "time" {}

# Else what a run has made cannot be taken away behind it.
override_resource {
  target = terraform_data.protection
  values = { output = false }
}

variables {
  project_id     = "recap-test"
  source_archive = "tests/source.zip"
  # Not needed here. Tests of Terraform 1.11 cannot leave an ephemeral variable out of an apply.
  gemini_api_key   = "unused"
  hook_signing_key = "unused"
  app_secrets      = {}
}

run "defaults" {
  command = apply

  # Who may call

  assert {
    condition     = one(google_cloud_run_v2_service_iam_member.chat_public[*].member) == "allUsers" && google_cloud_run_v2_service_iam_member.chat_public[0].name == "recap-chat"
    error_message = "Anybody may call chat, which checks ID tokens itself."
  }
  assert {
    condition     = google_cloud_run_v2_service_iam_member.compaction_push.member == google_service_account.push.member && google_cloud_run_v2_service_iam_member.compaction_push.name == "recap-compaction"
    error_message = "The account that pushes, and nobody else, may call the worker."
  }
  assert {
    condition     = google_cloudfunctions2_function.compaction.service_config[0].ingress_settings == "ALLOW_INTERNAL_ONLY"
    error_message = "The worker must take no request from the internet."
  }
  assert {
    condition     = alltrue([for right in [google_cloud_run_v2_service_iam_member.chat_public[0], google_cloud_run_v2_service_iam_member.compaction_push] : right.role == "roles/run.invoker"])
    error_message = "To call is all that a caller may."
  }

  # What the functions may do

  assert {
    condition = alltrue([
      for right in concat(
        values(google_project_iam_member.firestore), values(google_project_iam_member.vertex), google_project_iam_member.accounts,
        google_project_iam_member.notifications, [google_project_iam_member.build_logs, google_project_iam_member.build_sources],
      ) : !contains(["roles/owner", "roles/editor", "roles/viewer"], right.role) && right.member != "allUsers"
    ])
    error_message = "No primitive role, and nobody unknown, on the project."
  }
  assert {
    condition     = alltrue([for right in values(google_project_iam_member.firestore) : right.role == "roles/datastore.user" && strcontains(one(right.condition).expression, "projects/recap-test/databases/(default)")])
    error_message = "The functions may use this database, no other of the project."
  }
  assert {
    condition     = toset(keys(google_project_iam_member.vertex)) == toset(["chat", "compaction"]) && alltrue([for right in values(google_project_iam_member.vertex) : right.role == google_project_iam_custom_role.ask_models[0].name]) && google_project_iam_custom_role.ask_models[0].permissions == toset(["aiplatform.endpoints.predict"])
    error_message = "Both functions ask models of Vertex AI as themselves, without a key, and may do nothing else there."
  }
  assert {
    condition = alltrue([
      for topic, rights in { "recap-compaction" = google_pubsub_topic_iam_member.publish_compaction, "recap-events" = google_pubsub_topic_iam_member.publish_events } :
      toset(keys(rights)) == toset(["chat", "compaction"]) && alltrue([for right in values(rights) : right.topic == topic && right.role == "roles/pubsub.publisher"])
    ])
    error_message = "Both functions publish to both topics, each right on its topic."
  }
  assert {
    condition     = length(google_secret_manager_secret.secret) == 0
    error_message = "Without a key of the Gemini API and webhooks there is no secret."
  }
  assert {
    condition     = length(toset([google_service_account.chat.account_id, google_service_account.compaction.account_id, google_service_account.push.account_id, google_service_account.build.account_id])) == 4
    error_message = "Chat, worker, pushes and builds have an account each."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.service_config[0].service_account_email == google_service_account.chat.email && google_cloudfunctions2_function.compaction.service_config[0].service_account_email == google_service_account.compaction.email
    error_message = "Each function runs as its own account, not as the default one."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.build_config[0].service_account == google_service_account.build.id && google_cloudfunctions2_function.compaction.build_config[0].service_account == google_service_account.build.id
    error_message = "Builds take the id of their account; the e-mail is refused."
  }

  # What Google needs time for

  assert {
    condition     = time_sleep.apis.create_duration == "60s" && time_sleep.rights.create_duration == "120s" && time_sleep.metrics[0].create_duration == "600s"
    error_message = "The first apply waits until Google knows of new APIs, rights and metrics everywhere."
  }
  assert {
    condition     = time_sleep.metrics[0].triggers["metrics"] == "recap_compaction_lag_ms recap_compactions recap_first_token_ms recap_turn_ms recap_turns"
    error_message = "New metrics are waited for where an objective asks for them."
  }
  assert {
    condition     = toset(keys(google_project_service.first)) == toset(["cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com"]) && length(setintersection(keys(google_project_service.first), keys(google_project_service.required))) == 0
    error_message = "What enables APIs is enabled before the others."
  }
  assert {
    condition     = length(google_project_service.elsewhere) == 0
    error_message = "No other project is touched unless one is named."
  }

  # Functions

  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.build_config[0].runtime == "nodejs24" && function.build_config[0].source[0].storage_source[0].object == google_storage_bucket_object.source.name])
    error_message = "Both functions are built from the one archive, for Node 24."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.build_config[0].entry_point == "chat" && google_cloudfunctions2_function.compaction.build_config[0].entry_point == "compaction"
    error_message = "Entry points are what functions/src/bootstrap/register.ts registers."
  }
  assert {
    condition     = google_storage_bucket_object.source.name == "recap-${filesha256("tests/source.zip")}.zip"
    error_message = "The archive is named by its content: else a new one is never deployed."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.service_config[0].max_instance_request_concurrency == 1 || tonumber(function.service_config[0].available_cpu) >= 1])
    error_message = "Several requests at a time need a whole CPU."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : tonumber(trimsuffix(function.service_config[0].available_memory, "Mi")) >= 512])
    error_message = "Functions have 512 MiB at least."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.service_config[0].max_instance_count > 0])
    error_message = "What may grow has a bound: instances, too."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : length(function.service_config[0].direct_vpc_network_interface) == 0 && function.service_config[0].vpc_connector == null])
    error_message = "No VPC unless it is asked for."
  }
  assert {
    condition     = google_cloudfunctions2_function.compaction.service_config[0].environment_variables["PUSH_AUDIENCE"] == "https://recap-compaction-123456789012.us-central1.run.app"
    error_message = "The worker expects tokens made out to its own address."
  }
  assert {
    condition     = !contains(keys(google_cloudfunctions2_function.chat.service_config[0].environment_variables), "ADMIN_SERVICE_ACCOUNTS")
    error_message = "No server may act for users unless one is named."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.service_config[0].environment_variables["NODE_ENV"] == "production"])
    error_message = "NODE_ENV must be production, or errors leak their stacks."
  }

  # Pub/Sub

  assert {
    condition     = google_pubsub_subscription.compaction.ack_deadline_seconds >= google_cloudfunctions2_function.compaction.service_config[0].timeout_seconds
    error_message = "The acknowledgement deadline must not be shorter than the worker's time-out."
  }
  assert {
    condition     = google_pubsub_subscription.compaction.push_config[0].oidc_token[0].audience == google_cloudfunctions2_function.compaction.service_config[0].environment_variables["PUSH_AUDIENCE"] && google_pubsub_subscription.compaction.push_config[0].oidc_token[0].service_account_email == google_cloudfunctions2_function.compaction.service_config[0].environment_variables["PUSH_SERVICE_ACCOUNT"]
    error_message = "Pub/Sub must push with the token that the worker expects."
  }
  assert {
    condition     = google_pubsub_subscription.compaction.push_config[0].push_endpoint == google_cloudfunctions2_function.compaction.service_config[0].uri
    error_message = "Pub/Sub must push to the worker."
  }
  assert {
    condition     = alltrue([for subscription in [google_pubsub_subscription.compaction, google_pubsub_subscription.compaction_dead] : subscription.expiration_policy[0].ttl == ""])
    error_message = "No subscription may expire."
  }
  assert {
    condition     = !google_pubsub_subscription.compaction.enable_message_ordering
    error_message = "No order: a poison message would block its conversation."
  }
  assert {
    condition     = google_pubsub_subscription.compaction.dead_letter_policy[0].dead_letter_topic == google_pubsub_topic.compaction_dead.id && google_pubsub_subscription.compaction_dead.topic == google_pubsub_topic.compaction_dead.id
    error_message = "What cannot be delivered must be kept by a subscription."
  }
  assert {
    condition     = google_pubsub_topic_iam_member.dead_letters["compaction"].topic == "recap-compaction-dead" && google_pubsub_topic_iam_member.dead_letters["compaction"].role == "roles/pubsub.publisher" && google_pubsub_topic_iam_member.dead_letters["compaction"].member == "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com"
    error_message = "Pub/Sub's own account must be allowed to publish dead letters."
  }
  assert {
    condition     = google_pubsub_subscription_iam_member.dead_letters["compaction"].subscription == "recap-compaction" && google_pubsub_subscription_iam_member.dead_letters["compaction"].role == "roles/pubsub.subscriber" && google_pubsub_subscription_iam_member.dead_letters["compaction"].member == "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com"
    error_message = "Pub/Sub's own account must be allowed to acknowledge what it moves to the dead letters."
  }
  assert {
    condition     = google_service_account_iam_member.push_tokens.role == "roles/iam.serviceAccountOpenIdTokenCreator" && google_service_account_iam_member.push_tokens.service_account_id == google_service_account.push.name
    error_message = "Pub/Sub's own account must be allowed ID tokens of the account that pushes, and of no other."
  }
  assert {
    condition     = length(google_pubsub_subscription.events) == 0
    error_message = "Nobody is told of events unless somebody is named: then they need no subscription."
  }

  # Data

  assert {
    condition     = google_firestore_database.this[0].type == "FIRESTORE_NATIVE" && google_firestore_database.this[0].delete_protection_state == "DELETE_PROTECTION_ENABLED" && google_firestore_database.this[0].deletion_policy != "DELETE"
    error_message = "The database must survive a destroy unless it is said otherwise."
  }
  assert {
    condition     = google_firestore_database.this[0].point_in_time_recovery_enablement == "POINT_IN_TIME_RECOVERY_ENABLED" && length(google_firestore_backup_schedule.daily) == 1 && length(google_firestore_backup_schedule.weekly) == 1
    error_message = "The database must be recoverable to a minute, a day and a week."
  }
  assert {
    condition     = google_firestore_backup_schedule.daily[0].retention == "604800s" && google_firestore_backup_schedule.weekly[0].retention == "2419200s"
    error_message = "Backups are kept for 7 days and 4 weeks."
  }
  assert {
    condition     = google_logging_project_bucket_config.erasures[0].retention_days * 86400 > max(tonumber(trimsuffix(google_firestore_backup_schedule.daily[0].retention, "s")), tonumber(trimsuffix(google_firestore_backup_schedule.weekly[0].retention, "s")))
    error_message = "Who was erased must be known longer than any backup is kept."
  }
  assert {
    condition     = google_logging_project_bucket_config.erasures[0].bucket_id == "recap-erasures" && google_logging_project_sink.erasures[0].destination == "logging.googleapis.com/${google_logging_project_bucket_config.erasures[0].id}" && strcontains(google_logging_project_sink.erasures[0].filter, "conversation_erased") && strcontains(google_logging_project_sink.erasures[0].filter, "eraseUser")
    error_message = "Erasures of conversations and of users must reach the bucket that keeps them."
  }
  assert {
    condition     = google_firebaserules_release.firestore[0].name == "cloud.firestore" && google_firebaserules_release.firestore[0].ruleset_name == "projects/recap-test/rulesets/${google_firebaserules_ruleset.firestore[0].name}"
    error_message = "The rules must be released for Firestore."
  }
  assert {
    condition     = alltrue([for bucket in [google_storage_bucket.source, google_storage_bucket.uploads[0]] : bucket.uniform_bucket_level_access && bucket.public_access_prevention == "enforced"])
    error_message = "No object of any bucket can be made public."
  }
  assert {
    condition     = !google_storage_bucket.uploads[0].force_destroy
    error_message = "Uploads must survive a destroy unless it is said otherwise."
  }
  assert {
    condition     = length([for rule in google_storage_bucket.uploads[0].lifecycle_rule : rule if one(rule.action).type == "Delete" && one(rule.condition).days_since_custom_time == 1]) == 1
    error_message = "Files that no message names must go."
  }
  assert {
    condition     = toset(keys(google_storage_bucket_iam_member.uploads)) == toset(["chat", "compaction"]) && alltrue([for right in values(google_storage_bucket_iam_member.uploads) : right.role == "roles/storage.objectUser" && right.bucket == google_storage_bucket.uploads[0].name])
    error_message = "Both functions may read and delete uploads, each right on the bucket."
  }
  assert {
    condition     = google_service_account_iam_member.upload_addresses[0].role == google_project_iam_custom_role.sign_addresses[0].name && google_project_iam_custom_role.sign_addresses[0].permissions == toset(["iam.serviceAccounts.signBlob"]) && google_service_account_iam_member.upload_addresses[0].service_account_id == google_service_account.chat.name && google_service_account_iam_member.upload_addresses[0].member == google_service_account.chat.member
    error_message = "Chat signs the addresses of uploads as itself, and as no other."
  }
  assert {
    condition     = length(google_storage_bucket_iam_member.uploads_of_vertex) == 0
    error_message = "Vertex AI of the same project reads the bucket without a right of its own."
  }
  assert {
    condition     = toset([for field in values(google_firestore_field.override) : field.collection if length(field.ttl_config) == 1]) == toset(["appCheckTokens", "chunks", "claims", "inbox", "uploads", "usage", "shards"])
    error_message = "What expires must be deleted by a TTL policy."
  }
  assert {
    condition     = length(google_storage_bucket.uploads[0].cors) == 0
    error_message = "No page may upload unless its origin is named."
  }
  assert {
    condition     = alltrue([for service in concat(values(google_project_service.first), values(google_project_service.required)) : !service.disable_on_destroy])
    error_message = "Taking Recap away must not turn APIs off that others use."
  }
  assert {
    condition     = base64decode(google_cloud_scheduler_job.sweep.pubsub_target[0].data) == "{\"kind\":\"sweep\",\"schemaVersion\":1}" && google_cloud_scheduler_job.sweep.pubsub_target[0].topic_name == google_pubsub_topic.compaction.id
    error_message = "The schedule publishes the sweep to the worker's topic."
  }

  # Operation

  assert {
    condition     = alltrue([for policy in concat(values(google_monitoring_alert_policy.alert), values(google_monitoring_alert_policy.burning)) : strcontains(policy.documentation[0].content, "## First look") && strcontains(policy.documentation[0].content, "## What to do") && length(policy.documentation[0].content) <= 8192])
    error_message = "Every alert must say what to do."
  }
  assert {
    condition     = alltrue([for policy in values(google_monitoring_alert_policy.alert) : can(regex("^[a-zA-Z_][a-zA-Z0-9_]*$", policy.conditions[0].condition_prometheus_query_language[0].alert_rule))])
    error_message = "The rule of an alert must have a name that Prometheus takes, or Monitoring refuses the policy."
  }
  assert {
    condition     = strcontains(google_monitoring_alert_policy.alert["summaries-refused"].conditions[0].condition_prometheus_query_language[0].query, "status=~\"COMPACTED|FAILED_VERIFICATION|FAILED_EMPTY_SUMMARY\"}[6h])) > 0.05 and ")
    error_message = "The alert on refused summaries counts their states and heeds its threshold."
  }
  assert {
    condition     = toset(keys(google_monitoring_alert_policy.burning)) == toset(["turn-latency", "first-token-latency", "compaction-lag", "turns-answered", "compactions-served"])
    error_message = "Every objective that is in danger is told of."
  }
  assert {
    condition     = strcontains(google_monitoring_alert_policy.alert["sweep-missing"].conditions[0].condition_prometheus_query_language[0].query, "[10m]") && google_monitoring_alert_policy.alert["sweep-missing"].conditions[0].condition_prometheus_query_language[0].duration == "1500s"
    error_message = "A deployment that has just been made has time for its first sweep before it is missed."
  }
  assert {
    condition     = can(jsondecode(google_monitoring_dashboard.recap[0].dashboard_json).mosaicLayout.tiles[0].widget.title)
    error_message = "The dashboard must be JSON that Monitoring understands."
  }
}
