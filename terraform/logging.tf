# Who is to be erased again after a restore. A backup brings back what was erased since it was made, and the logs that tell
# of it would go after 30 days: these lines outlive every backup, the others do not.

locals {
  backups_kept_days = max(var.daily_backups_kept_days, 7 * var.weekly_backups_kept_weeks, var.point_in_time_recovery ? 7 : 0)
  # A week more, to restore the oldest and to erase in it. 0: nothing can be restored.
  erasures_kept_days = coalesce(var.erasures_kept_days, local.backups_kept_days == 0 ? 0 : local.backups_kept_days + 7)
}

resource "google_logging_project_bucket_config" "erasures" {
  count = local.erasures_kept_days > 0 ? 1 : 0

  project         = var.project_id
  location        = "global"
  bucket_id       = "${var.name}-erasures"
  description     = "Recap: which conversations and users were erased, for as long as backups have them."
  retention_days  = local.erasures_kept_days
  deletion_policy = var.deletion_protection ? "ABANDON" : "DELETE"

  depends_on = [time_sleep.apis]
}

# Within a project a sink may write without a right of its own. No line holds what a user said; users are hashed.
resource "google_logging_project_sink" "erasures" {
  count = local.erasures_kept_days > 0 ? 1 : 0

  project     = var.project_id
  name        = "${var.name}-erasures"
  description = "Recap: erasures, to the bucket that keeps them as long as backups are kept."
  destination = "logging.googleapis.com/${google_logging_project_bucket_config.erasures[0].id}"
  filter      = "${local.all_logs} (jsonPayload.event=\"conversation_erased\" OR (jsonPayload.event=\"request\" AND jsonPayload.operation=(\"eraseUser\" OR \"deleteMessage\" OR \"deleteMemory\")))"
}
