output "chat_url" {
  description = "Address of the API: what apps call, and what `npm run smoke -- --url` takes."
  value       = google_cloudfunctions2_function.chat.service_config[0].uri
}

output "chat_service" {
  description = "Name of the Cloud Run service below chat, for a load balancer (examples/load-balancer)."
  value       = google_cloudfunctions2_function.chat.name
}

output "compaction_url" {
  description = "Address of the worker, which takes pushes of its own subscriptions only."
  value       = google_cloudfunctions2_function.compaction.service_config[0].uri
}

output "admin_audience" {
  description = "Address of chat that ID tokens of servers are made out to (admin_service_accounts)."
  value       = local.admin_audience
}

output "push_audience" {
  description = "Audience that the worker expects in the tokens of pushes."
  value       = local.push_audience
}

output "service_accounts" {
  description = "E-mails of the service accounts, by what they do."
  value = {
    chat       = google_service_account.chat.email
    compaction = google_service_account.compaction.email
    push       = google_service_account.push.email
    build      = google_service_account.build.email
  }
}

output "database_id" {
  description = "Firestore database of conversations."
  value       = local.database_id
}

output "database_protection" {
  description = "DELETE_PROTECTION_ENABLED where the database survives `terraform destroy`; null where it is not made here."
  value       = one(google_firestore_database.this[*].delete_protection_state)
}

output "deletion_protection" {
  description = "Whether `terraform destroy` is refused."
  value       = terraform_data.protection.output
}

output "erasures_kept_days" {
  description = "How long the log bucket of erasures tells who is to be erased again after a restore, in days; 0: there is none, for nothing can be restored."
  value       = local.erasures_kept_days
}

output "uploads_bucket" {
  description = "Bucket of what users attach; null without uploads."
  value       = one(google_storage_bucket.uploads[*].name)
}

output "topics" {
  description = "Topics, by what they carry."
  value = {
    compaction = google_pubsub_topic.compaction.name
    events     = google_pubsub_topic.events.name
  }
}

output "dead_letter_subscriptions" {
  description = "Subscriptions that keep what could not be delivered, for `gcloud pubsub subscriptions pull`."
  value       = concat([google_pubsub_subscription.compaction_dead.name], google_pubsub_subscription.events_dead[*].name)
}

output "dashboard" {
  description = "Name of the dashboard in Cloud Monitoring; null where observability is none."
  value       = one(google_monitoring_dashboard.recap[*].id)
}

output "keep_cpu_command" {
  description = "Has chat keep its CPU between requests, billed by the instance. When that is worth it: docs/decisions/operations/0024."
  value       = "gcloud run services update ${google_cloudfunctions2_function.chat.name} --project=${var.project_id} --region=${var.region} --no-cpu-throttling"
}
