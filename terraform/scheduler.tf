# The sweep mends what nobody came back to: docs/decisions/compaction/0013.
resource "google_cloud_scheduler_job" "sweep" {
  project     = var.project_id
  region      = var.region
  name        = "${var.name}-sweep"
  description = "Recap: has the worker close abandoned turns, publish forgotten requests and finish erasures."
  schedule    = var.sweep_schedule
  time_zone   = "Etc/UTC"

  pubsub_target {
    topic_name = google_pubsub_topic.compaction.id
    data       = base64encode(jsonencode({ schemaVersion = 1, kind = "sweep" }))
  }
  retry_config {
    # The next sweep is five minutes away.
    retry_count = 1
  }

  # The first sweep finds a worker.
  depends_on = [time_sleep.apis, google_pubsub_subscription.compaction]
}
