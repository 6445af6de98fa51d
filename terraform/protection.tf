# A protected deployment refuses `terraform destroy`, and the apply that would make it anew in another project, region or name,
# before anything is gone. Google's own protections refuse one by one, of
# database, files and secrets, when functions, indexes and rules have been destroyed already.

resource "terraform_data" "protection" {
  input            = var.deletion_protection
  triggers_replace = [var.project_id, var.region, var.name]

  provisioner "local-exec" {
    when    = destroy
    quiet   = true
    command = self.output ? "echo Nothing was destroyed: deletion_protection is on. To destroy, or for another project_id, region or name, set it to false and apply first. && exit 1" : "exit 0"
  }

  # What depends on others is destroyed before them: this is behind everything. Listed is what nothing else depends on.
  depends_on = [
    google_billing_budget.monthly,
    google_cloud_run_v2_service_iam_member.chat_public,
    google_cloud_run_v2_service_iam_member.compaction_push,
    google_firebaserules_release.firestore,
    google_firestore_backup_schedule.daily,
    google_firestore_backup_schedule.weekly,
    google_firestore_field.override,
    google_firestore_index.composite,
    google_logging_project_sink.erasures,
    google_monitoring_alert_policy.alert,
    google_monitoring_alert_policy.burning,
    google_monitoring_dashboard.recap,
    google_project_iam_member.accounts,
    google_project_iam_member.notifications,
    google_project_iam_member.vertex,
    google_project_service.elsewhere,
    google_pubsub_subscription_iam_member.dead_letters,
    google_pubsub_topic_iam_member.dead_letters,
    google_pubsub_topic_iam_member.publish_compaction,
    google_pubsub_topic_iam_member.publish_events,
    google_service_account_iam_member.push_tokens,
    google_service_account_iam_member.upload_addresses,
    google_storage_bucket_iam_member.uploads,
    google_storage_bucket_iam_member.uploads_of_vertex,
  ]
}
