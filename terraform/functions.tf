# Both functions are built from one archive. Why google_cloudfunctions2_function: docs/decisions/operations/0024.

locals {
  # What Cloud Run gives to so many CPUs.
  memory_mib_of_cpus = {
    "1" = { least = 512, most = 4096 }
    "2" = { least = 512, most = 8192 }
    "4" = { least = 2048, most = 16384 }
    "8" = { least = 4096, most = 32768 }
  }

  project_number = data.google_project.this.number

  chat_name       = "${var.name}-chat"
  compaction_name = "${var.name}-compaction"

  # The address that Cloud Run gives a service by its name. It is known before there is a service, so that
  # the worker can be told what its own tokens are made out to.
  compaction_url = "https://${local.compaction_name}-${local.project_number}.${var.region}.run.app"
  push_audience  = coalesce(var.push_audience, local.compaction_url)
  # Of chat likewise: servers have their tokens made out to it.
  admin_audience = "https://${local.chat_name}-${local.project_number}.${var.region}.run.app"

  uses_vertex    = var.model_access == "vertex"
  vertex_project = coalesce(var.vertex_project, var.project_id)
  # Vertex AI of another project, to whose service agent the bucket of uploads must be opened.
  vertex_reads_uploads_elsewhere = local.uses_vertex && var.uploads && local.vertex_project != var.project_id

  checks_revoked = lookup(var.settings, "CHECK_REVOKED", "erasures") != "off"
  calls_webhooks = length(var.hook_hosts) > 0

  # The worker has something to do with the events topic only where somebody is to be told.
  tells_events = var.fcm_project != null || var.event_webhook_url != null

  # Within 512 MiB V8 would give what lives shortly 1 MiB, and a stream took a third more of the processor.
  node_options = "--max-semi-space-size=32"

  # Absent is said by null; a variable that is set to nothing counts as not set, too.
  environment = {
    for name, value in merge(var.app_settings, var.settings, {
      NODE_ENV               = "production"
      NODE_OPTIONS           = local.node_options
      GOOGLE_CLOUD_PROJECT   = var.project_id
      FIRESTORE_DATABASE     = local.database_id
      COMPACTION_TOPIC       = google_pubsub_topic.compaction.name
      EVENTS_TOPIC           = google_pubsub_topic.events.name
      VERTEX_PROJECT         = local.uses_vertex ? local.vertex_project : null
      VERTEX_LOCATION        = local.uses_vertex ? var.vertex_location : null
      HOOK_HOSTS             = local.calls_webhooks ? join(",", var.hook_hosts) : null
      EVENT_WEBHOOK_URL      = var.event_webhook_url
      FCM_PROJECT            = var.fcm_project
      UPLOADS_BUCKET         = var.uploads ? google_storage_bucket.uploads[0].name : null
      UPLOADS_SIGNER         = var.uploads ? google_service_account.chat.email : null
      CORS_ORIGINS           = length(var.cors_origins) > 0 ? join(",", var.cors_origins) : null
      ADMIN_SERVICE_ACCOUNTS = length(var.admin_service_accounts) > 0 ? join(",", var.admin_service_accounts) : null
      ADMIN_AUDIENCE         = length(var.admin_service_accounts) > 0 ? local.admin_audience : null
    }) : name => value if value != null
  }
}

resource "google_cloudfunctions2_function" "chat" {
  project     = var.project_id
  location    = var.region
  name        = local.chat_name
  description = "Recap: answers apps, streams, and asks for compactions."
  labels      = var.labels

  build_config {
    runtime           = "nodejs24"
    entry_point       = "chat"
    docker_repository = google_artifact_registry_repository.images.id
    service_account   = google_service_account.build.id

    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email            = google_service_account.chat.email
    available_cpu                    = tostring(var.chat.cpu)
    available_memory                 = "${var.chat.memory_mib}Mi"
    max_instance_request_concurrency = var.chat.concurrency
    min_instance_count               = var.chat.min_instances
    max_instance_count               = var.chat.max_instances
    timeout_seconds                  = var.chat.timeout_seconds
    ingress_settings                 = var.chat_ingress
    all_traffic_on_latest_revision   = true
    environment_variables            = local.environment

    dynamic "secret_environment_variables" {
      for_each = google_secret_manager_secret_version.value
      content {
        key        = secret_environment_variables.key
        project_id = var.project_id
        secret     = google_secret_manager_secret.secret[secret_environment_variables.key].secret_id
        version    = secret_environment_variables.value.version
      }
    }

    direct_vpc_egress = var.vpc_egress == null ? null : var.vpc_egress.traffic
    dynamic "direct_vpc_network_interface" {
      for_each = var.vpc_egress[*]
      content {
        network    = direct_vpc_network_interface.value.network
        subnetwork = direct_vpc_network_interface.value.subnetwork
      }
    }
  }

  # A function that is built or starts before its accounts may do what they must is not made.
  depends_on = [time_sleep.rights]
}

resource "google_cloudfunctions2_function" "compaction" {
  project     = var.project_id
  location    = var.region
  name        = local.compaction_name
  description = "Recap: compacts, sweeps, erases and notifies, on pushes of Pub/Sub."
  labels      = var.labels

  build_config {
    runtime           = "nodejs24"
    entry_point       = "compaction"
    docker_repository = google_artifact_registry_repository.images.id
    service_account   = google_service_account.build.id

    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email            = google_service_account.compaction.email
    available_cpu                    = tostring(var.compaction.cpu)
    available_memory                 = "${var.compaction.memory_mib}Mi"
    max_instance_request_concurrency = var.compaction.concurrency
    min_instance_count               = var.compaction.min_instances
    max_instance_count               = var.compaction.max_instances
    timeout_seconds                  = var.compaction.timeout_seconds
    # Pushes of Pub/Sub in this project count as internal.
    ingress_settings               = "ALLOW_INTERNAL_ONLY"
    all_traffic_on_latest_revision = true

    environment_variables = merge(local.environment, {
      PUSH_AUDIENCE        = local.push_audience
      PUSH_SERVICE_ACCOUNT = google_service_account.push.email
    })

    dynamic "secret_environment_variables" {
      for_each = google_secret_manager_secret_version.value
      content {
        key        = secret_environment_variables.key
        project_id = var.project_id
        secret     = google_secret_manager_secret.secret[secret_environment_variables.key].secret_id
        version    = secret_environment_variables.value.version
      }
    }

    direct_vpc_egress = var.vpc_egress == null ? null : var.vpc_egress.traffic
    dynamic "direct_vpc_network_interface" {
      for_each = var.vpc_egress[*]
      content {
        network    = direct_vpc_network_interface.value.network
        subnetwork = direct_vpc_network_interface.value.subnetwork
      }
    }
  }

  depends_on = [time_sleep.rights]
}

# Who may call stands on the Cloud Run service below a function; the function itself has no such right.
# The service is made anew with the function: only then is its address unknown, and the right given again.

resource "google_cloud_run_v2_service_iam_member" "chat_public" {
  count = var.chat_is_public ? 1 : 0

  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.chat.name
  role     = "roles/run.invoker"
  member   = "allUsers"

  lifecycle {
    replace_triggered_by = [google_cloudfunctions2_function.chat.url]
  }
}

resource "google_cloud_run_v2_service_iam_member" "compaction_push" {
  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.compaction.name
  role     = "roles/run.invoker"
  member   = google_service_account.push.member

  lifecycle {
    replace_triggered_by = [google_cloudfunctions2_function.compaction.url]
  }
}
