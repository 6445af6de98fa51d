import type { Change } from './plant.ts';

/** What the lint alone has to see: a resource has one fault here, for these are planted all at once. */
export const seenByLint: (Change & { lint: string })[] = [
  {
    mistake: 'a resource that the provider does not have',
    file: 'scheduler.tf',
    from: 'resource "google_cloud_scheduler_job"',
    to: 'resource "google_cloud_scheduler_task"',
    lint: 'scheduler.tf: google_cloud_scheduler_task.sweep: no provider has a type "google_cloud_scheduler_task" that is known here',
  },
  {
    mistake: 'a resource that nobody declares',
    file: 'outputs.tf',
    from: 'google_pubsub_topic.events.name',
    to: 'google_pubsub_topic.news.name',
    lint: 'outputs.tf: output.topics: no google_pubsub_topic.news is declared',
  },
  {
    mistake: 'a local that there is not',
    file: 'functions.tf',
    from: `location    = var.region
  name        = local.chat_name`,
    to: `location    = var.region
  name        = local.chat_nam`,
    lint: 'functions.tf: google_cloudfunctions2_function.chat: no local "chat_nam"',
  },
  {
    mistake: 'a right on every database',
    file: 'iam.tf',
    from: String.raw`  condition {
    title       = "recap-database"
    description = "The database of Recap, no other of the project."
    expression  = "resource.name == \"projects/${'${'}var.project_id}/databases/${'${'}var.database_id}\""
  }
`,
    to: '',
    lint: 'iam.tf: google_project_iam_member.firestore: roles/datastore.user on a project needs a condition that names the resource',
  },
  {
    mistake: 'a right that takes others away',
    file: 'iam.tf',
    from: 'resource "google_storage_bucket_iam_member" "uploads_of_vertex"',
    to: 'resource "google_storage_bucket_iam_binding" "uploads_of_vertex"',
    lint: 'iam.tf: google_storage_bucket_iam_binding.uploads_of_vertex: takes rights away that others gave: use …_iam_member',
  },
  {
    mistake: 'a value that the provider alone sets',
    file: 'storage.tf',
    from: String.raw`repository_id = "${'${'}var.name}-functions"`,
    to: String.raw`repository_id = "${'${'}var.name}-functions"
  create_time   = "now"`,
    lint: 'storage.tf: google_artifact_registry_repository.images: "create_time" is set by the provider alone',
  },
  {
    mistake: 'a push without a token',
    file: 'pubsub.tf',
    from: `    oidc_token {
      service_account_email = google_service_account.push.email
      audience              = local.push_audience
    }
`,
    to: '',
    lint: 'pubsub.tf: google_pubsub_subscription.compaction: pushes without an OIDC token',
  },
  {
    mistake: 'a service that is made before its API is known',
    file: 'monitoring.tf',
    from: String.raw`  display_name = "Recap (${'${'}var.name})"

  depends_on = [time_sleep.apis]
`,
    to: String.raw`  display_name = "Recap (${'${'}var.name})"
`,
    lint: 'monitoring.tf: google_monitoring_custom_service.recap: does not wait for time_sleep.apis: its API is enabled by the same apply',
  },
  {
    mistake: 'an objective on metrics that are not known yet',
    file: 'monitoring.tf',
    from: `  }

  depends_on = [time_sleep.metrics]
`,
    to: `  }

  depends_on = [google_logging_metric.distribution]
`,
    lint: 'monitoring.tf: google_monitoring_slo.latency: does not wait for time_sleep.metrics: its metrics are made by the same apply',
  },
  {
    mistake: 'a variable without a description',
    file: 'variables.tf',
    from: `  description = "Google Cloud project that everything is made in."
`,
    to: '',
    lint: 'variables.tf: variable.project_id: has no description',
  },
  {
    mistake: 'an alert that does not say what to do',
    file: 'monitoring.tf',
    from: String.raw`  documentation {
    mime_type = "text/markdown"
    subject   = "Recap (${'${'}var.name}): ${'${'}each.value.display}"
    content   = templatefile("${'${'}path.module}/alerts/${'${'}each.key}.md", local.documented)
  }
`,
    to: '',
    lint: 'monitoring.tf: google_monitoring_alert_policy.alert: does not say what to do: it has no documentation',
  },
  {
    mistake: 'an environment that sets what there is not',
    file: 'environments/dev/main.tf',
    from: 'point_in_time_recovery    = false',
    to: 'time_travel               = false',
    lint: 'environments/dev/main.tf: module.recap: the module has no variable "time_travel"',
  },
  {
    mistake: 'an environment that forgets a key',
    file: 'environments/prod/main.tf',
    from: `  snapshot_keys     = var.snapshot_keys
`,
    to: '',
    lint: 'environments/prod/main.tf: module.recap: the variable "snapshot_keys" must be set',
  },
  {
    mistake: 'an output that the module does not have',
    file: 'environments/prod/outputs.tf',
    from: 'module.recap.chat_url',
    to: 'module.recap.url',
    lint: 'environments/prod/outputs.tf: output.chat_url: the module has no output "url"',
  },
];
