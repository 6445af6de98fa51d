# A deployment with every option taken.

mock_provider "google" {
  source = "./tests/mocks"
}

mock_provider "time" {}

variables {
  project_id             = "recap-test"
  name                   = "second"
  region                 = "europe-west1"
  source_archive         = "tests/source.zip"
  database_id            = "second"
  database_location      = "eur3"
  model_access           = "gemini_api_key"
  gemini_api_key         = "a-key"
  hook_signing_key       = "0123456789012345678901234567890123456789"
  secret_versions        = { gemini_api_key = 2 }
  fcm_project            = "recap-phones"
  hook_hosts             = ["hooks.example.com"]
  event_webhook_url      = "https://hooks.example.com/recap"
  cors_origins           = ["https://app.example.com"]
  push_audience          = "https://worker.example.com"
  chat_is_public         = false
  admin_service_accounts = ["backend@my-app.iam.gserviceaccount.com", "jobs@my-app.iam.gserviceaccount.com"]
  chat_ingress           = "ALLOW_INTERNAL_AND_GCLB"
  vpc_egress             = { network = "vpc", subnetwork = "functions", traffic = "VPC_EGRESS_ALL_TRAFFIC" }
  notification_emails    = ["oncall@example.com"]
  notification_channels  = ["projects/recap-test/notificationChannels/1"]
  budget                 = { billing_account = "012345-6789AB-CDEF01", monthly_amount = 300 }
  deletion_protection    = false
  settings               = { CHECK_REVOKED = "off", MODEL = "gemini-3.8-flash" }
  app_settings           = { ACME_URL = "https://acme.example.com" }
  app_secrets            = { ACME_API_KEY = "a-key" }
  app_secret_versions    = { ACME_API_KEY = 1 }
}

run "options" {
  command = apply

  assert {
    condition     = length(google_cloud_run_v2_service_iam_member.chat_public) == 0
    error_message = "Without chat_is_public nobody is let in."
  }
  assert {
    condition     = toset(keys(google_secret_manager_secret.secret)) == toset(["ACME_API_KEY", "GEMINI_API_KEY", "HOOK_SIGNING_KEY"])
    error_message = "Key, signing secret and the app's own stand in Secret Manager."
  }
  assert {
    condition     = toset(keys(google_secret_manager_secret_iam_member.functions)) == toset(["ACME_API_KEY-chat", "ACME_API_KEY-compaction", "GEMINI_API_KEY-chat", "GEMINI_API_KEY-compaction", "HOOK_SIGNING_KEY-chat", "HOOK_SIGNING_KEY-compaction"]) && alltrue([for right in values(google_secret_manager_secret_iam_member.functions) : right.role == "roles/secretmanager.secretAccessor"])
    error_message = "Each function may read each of its secrets, and no other."
  }
  assert {
    condition     = toset([for secret in google_cloudfunctions2_function.chat.service_config[0].secret_environment_variables : "${secret.key}:${secret.secret}"]) == toset(["ACME_API_KEY:second-acme-api-key", "GEMINI_API_KEY:second-gemini-api-key", "HOOK_SIGNING_KEY:second-hook-signing-key"])
    error_message = "Secrets come from Secret Manager."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.service_config[0].environment_variables["ACME_URL"] == "https://acme.example.com"])
    error_message = "The app's code reads its own settings in both functions."
  }
  assert {
    condition     = google_secret_manager_secret_version.value["GEMINI_API_KEY"].secret_data_wo_version == 2
    error_message = "A version that rises has the secret stored anew."
  }
  assert {
    condition     = length(google_project_iam_member.vertex) == 0 && !contains(keys(google_cloudfunctions2_function.chat.service_config[0].environment_variables), "VERTEX_PROJECT")
    error_message = "With a key nobody needs Vertex AI."
  }
  assert {
    condition     = length(google_project_iam_member.accounts) == 0
    error_message = "Chat may read accounts only where it checks them."
  }
  assert {
    condition     = { for service, one in google_project_service.elsewhere : service => one.project } == { "fcm.googleapis.com" = "recap-phones" }
    error_message = "What sends messages must be on in the Firebase project."
  }
  assert {
    condition     = google_project_iam_member.notifications[0].project == "recap-phones" && google_project_iam_member.notifications[0].member == google_service_account.compaction.member
    error_message = "The worker, and it alone, may notify through the Firebase project."
  }
  assert {
    condition     = google_pubsub_subscription.events[0].topic == google_pubsub_topic.events.id && google_pubsub_subscription.events[0].push_config[0].push_endpoint == google_cloudfunctions2_function.compaction.service_config[0].uri && google_pubsub_subscription.events[0].ack_deadline_seconds >= google_cloudfunctions2_function.compaction.service_config[0].timeout_seconds
    error_message = "The worker hears of events where somebody is to be told."
  }
  assert {
    condition     = alltrue([for subscription in [google_pubsub_subscription.compaction, google_pubsub_subscription.events[0]] : subscription.push_config[0].oidc_token[0].audience == "https://worker.example.com"]) && google_cloudfunctions2_function.compaction.service_config[0].environment_variables["PUSH_AUDIENCE"] == "https://worker.example.com"
    error_message = "Both subscriptions and the worker have the same audience."
  }
  assert {
    condition     = google_pubsub_subscription.events[0].dead_letter_policy[0].dead_letter_topic == google_pubsub_topic.events_dead[0].id && google_pubsub_subscription.events_dead[0].expiration_policy[0].ttl == "" && toset(keys(google_pubsub_topic_iam_member.dead_letters)) == toset(["compaction", "events"]) && toset(keys(google_pubsub_subscription_iam_member.dead_letters)) == toset(["compaction", "events"])
    error_message = "Dead letters of events are kept as those of compactions are."
  }
  assert {
    condition     = google_firestore_database.this[0].name == "second" && google_firestore_database.this[0].location_id == "eur3" && google_firestore_database.this[0].delete_protection_state == "DELETE_PROTECTION_DISABLED"
    error_message = "Another database, elsewhere, without protection."
  }
  assert {
    condition     = google_firebaserules_release.firestore[0].name == "cloud.firestore/second"
    error_message = "Rules of a named database are released under its name."
  }
  assert {
    condition     = alltrue([for right in values(google_project_iam_member.firestore) : strcontains(one(right.condition).expression, "databases/second\"")])
    error_message = "The right is on the database that is used."
  }
  assert {
    condition     = alltrue([for function in [google_cloudfunctions2_function.chat, google_cloudfunctions2_function.compaction] : function.service_config[0].direct_vpc_egress == "VPC_EGRESS_ALL_TRAFFIC" && function.service_config[0].direct_vpc_network_interface[0].subnetwork == "functions"])
    error_message = "Both functions go out through the network that is named."
  }
  assert {
    condition     = google_storage_bucket.uploads[0].cors[0].origin == tolist(["https://app.example.com"]) && google_storage_bucket.uploads[0].cors[0].method == tolist(["GET", "PUT"]) && google_cloudfunctions2_function.chat.service_config[0].environment_variables["CORS_ORIGINS"] == "https://app.example.com"
    error_message = "The same origins may call and upload."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.service_config[0].environment_variables["ADMIN_SERVICE_ACCOUNTS"] == "backend@my-app.iam.gserviceaccount.com,jobs@my-app.iam.gserviceaccount.com" && google_cloudfunctions2_function.chat.service_config[0].environment_variables["ADMIN_AUDIENCE"] == "https://second-chat-123456789012.europe-west1.run.app" && output.admin_audience == "https://second-chat-123456789012.europe-west1.run.app"
    error_message = "The servers that are named may act for users, with tokens for the address of chat."
  }
  assert {
    condition     = alltrue([for policy in concat(values(google_monitoring_alert_policy.alert), values(google_monitoring_alert_policy.burning)) : length(policy.notification_channels) == 2])
    error_message = "Every alert goes to every channel."
  }
  assert {
    condition     = google_billing_budget.monthly[0].amount[0].specified_amount[0].units == "300" && google_billing_budget.monthly[0].budget_filter[0].projects == toset(["projects/123456789012"])
    error_message = "The budget is that of this project."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.service_config[0].environment_variables["MODEL"] == "gemini-3.8-flash"
    error_message = "Settings reach the functions."
  }
}

run "many_addresses" {
  command = apply

  variables {
    notification_emails = [for number in range(7) : "oncall-${number}@example.com"]
    chat                = { cpu = 4, memory_mib = 2048 }
    compaction          = { cpu = 8, memory_mib = 32768 }
  }

  assert {
    condition     = length(google_billing_budget.monthly[0].all_updates_rule[0].monitoring_notification_channels) == 5
    error_message = "A budget takes five channels: the first five addresses."
  }
  assert {
    condition     = google_cloudfunctions2_function.chat.service_config[0].available_memory == "2048Mi" && google_cloudfunctions2_function.compaction.service_config[0].available_memory == "32768Mi"
    error_message = "What Cloud Run gives to so many CPUs is taken."
  }
}

run "existing_database" {
  command = apply

  variables {
    create_database        = false
    manage_firestore_rules = false
    uploads                = false
    erasures_kept_days     = 400
    fcm_project            = null
    event_webhook_url      = null
  }

  assert {
    condition     = length(google_firestore_database.this) == 0 && length(google_firebaserules_release.firestore) == 0
    error_message = "A database that is there keeps its settings and its rules."
  }
  assert {
    condition     = alltrue([for index in values(google_firestore_index.composite) : index.database == "second"]) && alltrue([for field in values(google_firestore_field.override) : field.database == "second"])
    error_message = "It gets the indexes and TTL policies all the same."
  }
  assert {
    condition     = google_logging_project_bucket_config.erasures[0].retention_days == 400
    error_message = "Who has backups of his own says how long erasures are to be known."
  }
  assert {
    condition     = length(google_storage_bucket.uploads) == 0 && !contains(keys(google_cloudfunctions2_function.chat.service_config[0].environment_variables), "UPLOADS_BUCKET") && length(google_storage_bucket_iam_member.uploads) == 0
    error_message = "Without uploads there is neither bucket nor right."
  }
  assert {
    condition     = length(google_pubsub_subscription.events) == 0
    error_message = "Where nobody is told there is no subscription, though webhooks of conversations may be called."
  }
}

run "models_of_another_project" {
  command = apply

  variables {
    model_access   = "vertex"
    vertex_project = "recap-models"
  }

  assert {
    condition     = alltrue([for right in values(google_project_iam_member.vertex) : right.project == "recap-models"]) && google_cloudfunctions2_function.chat.service_config[0].environment_variables["VERTEX_PROJECT"] == "recap-models"
    error_message = "The functions ask the Vertex AI of the project that is named."
  }
  assert {
    condition     = google_project_service.elsewhere["aiplatform.googleapis.com"].project == "recap-models"
    error_message = "The API of the models must be on where they are."
  }
  assert {
    condition     = google_storage_bucket_iam_member.uploads_of_vertex[0].member == "serviceAccount:service-123456789012@gcp-sa-aiplatform.iam.gserviceaccount.com" && google_storage_bucket_iam_member.uploads_of_vertex[0].role == "roles/storage.objectViewer" && google_storage_bucket_iam_member.uploads_of_vertex[0].bucket == google_storage_bucket.uploads[0].name
    error_message = "The Vertex AI of another project may read what users attach, and nothing else."
  }
}
