# Push subscriptions of our own. Why no Eventarc trigger: docs/decisions/compaction/0013. The figures are those of
# infra/local/stack/pubsub-setup.ts, with which the local stack runs.

locals {
  ack_deadline_seconds  = 600
  minimum_backoff       = "10s"
  maximum_backoff       = "600s"
  max_delivery_attempts = 8

  # As long as Pub/Sub keeps any: 31 days.
  dead_letters_kept = "2678400s"

  pubsub_agent = "serviceAccount:service-${local.project_number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

resource "google_pubsub_topic" "compaction" {
  project = var.project_id
  name    = "${var.name}-compaction"
  labels  = var.labels

  depends_on = [time_sleep.apis]
}

resource "google_pubsub_topic" "compaction_dead" {
  project = var.project_id
  name    = "${var.name}-compaction-dead"
  labels  = var.labels

  depends_on = [time_sleep.apis]
}

resource "google_pubsub_subscription" "compaction" {
  project = var.project_id
  name    = "${var.name}-compaction"
  topic   = google_pubsub_topic.compaction.id
  labels  = var.labels

  ack_deadline_seconds = local.ack_deadline_seconds
  # Guards make the order irrelevant, and one poison message would block all that follow it.
  enable_message_ordering = false

  push_config {
    push_endpoint = google_cloudfunctions2_function.compaction.service_config[0].uri
    oidc_token {
      service_account_email = google_service_account.push.email
      audience              = local.push_audience
    }
  }
  retry_policy {
    minimum_backoff = local.minimum_backoff
    maximum_backoff = local.maximum_backoff
  }
  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.compaction_dead.id
    max_delivery_attempts = local.max_delivery_attempts
  }
  expiration_policy {
    # Never: a month without a compaction must not end compactions.
    ttl = ""
  }

  lifecycle {
    precondition {
      condition     = local.ack_deadline_seconds >= var.compaction.timeout_seconds
      error_message = "compaction.timeout_seconds must be at most ${local.ack_deadline_seconds}, the acknowledgement deadline: else Pub/Sub delivers again what is still being worked on."
    }
  }
}

resource "google_pubsub_subscription" "compaction_dead" {
  project = var.project_id
  name    = "${var.name}-compaction-dead"
  topic   = google_pubsub_topic.compaction_dead.id
  labels  = var.labels

  message_retention_duration = local.dead_letters_kept
  expiration_policy {
    ttl = ""
  }
}

resource "google_pubsub_topic" "events" {
  project = var.project_id
  name    = "${var.name}-events"
  labels  = var.labels

  depends_on = [time_sleep.apis]
}

resource "google_pubsub_topic" "events_dead" {
  count = local.tells_events ? 1 : 0

  project = var.project_id
  name    = "${var.name}-events-dead"
  labels  = var.labels

  depends_on = [time_sleep.apis]
}

resource "google_pubsub_subscription" "events" {
  count = local.tells_events ? 1 : 0

  project = var.project_id
  name    = "${var.name}-events"
  topic   = google_pubsub_topic.events.id
  labels  = var.labels

  ack_deadline_seconds    = local.ack_deadline_seconds
  enable_message_ordering = false

  push_config {
    push_endpoint = google_cloudfunctions2_function.compaction.service_config[0].uri
    oidc_token {
      service_account_email = google_service_account.push.email
      audience              = local.push_audience
    }
  }
  retry_policy {
    minimum_backoff = local.minimum_backoff
    maximum_backoff = local.maximum_backoff
  }
  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.events_dead[0].id
    max_delivery_attempts = local.max_delivery_attempts
  }
  expiration_policy {
    ttl = ""
  }
}

resource "google_pubsub_subscription" "events_dead" {
  count = local.tells_events ? 1 : 0

  project = var.project_id
  name    = "${var.name}-events-dead"
  topic   = google_pubsub_topic.events_dead[0].id
  labels  = var.labels

  message_retention_duration = local.dead_letters_kept
  expiration_policy {
    ttl = ""
  }
}

# Pub/Sub moves a dead letter itself: it publishes to the dead-letter topic, and acknowledges at the
# subscription. Without both rights messages are redelivered for ever, and nothing says why.

resource "google_pubsub_topic_iam_member" "dead_letters" {
  for_each = merge(
    { compaction = google_pubsub_topic.compaction_dead.name },
    local.tells_events ? { events = google_pubsub_topic.events_dead[0].name } : {},
  )

  project = var.project_id
  topic   = each.value
  role    = "roles/pubsub.publisher"
  member  = local.pubsub_agent
}

resource "google_pubsub_subscription_iam_member" "dead_letters" {
  for_each = merge(
    { compaction = google_pubsub_subscription.compaction.name },
    local.tells_events ? { events = google_pubsub_subscription.events[0].name } : {},
  )

  project      = var.project_id
  subscription = each.value
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}
