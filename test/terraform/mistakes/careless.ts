import type { Mistake } from './plant.ts';

/** What is one, and must not be: the tests of the module say so. */
export const careless: Mistake[] = [
  {
    mistake: 'a primitive role',
    file: 'iam.tf',
    from: 'roles/aiplatform.user',
    to: 'roles/editor',
    says: 'No primitive role, and nobody unknown, on the project.',
    lint: 'iam.tf: google_project_iam_member.vertex: roles/editor is a primitive role',
  },
  {
    mistake: 'a worker that anybody may call',
    file: 'functions.tf',
    from: 'member   = google_service_account.push.member',
    to: 'member   = "allUsers"',
    says: 'The account that pushes, and nobody else, may call the worker.',
    lint: 'functions.tf: google_cloud_run_v2_service_iam_member.compaction_push: only google_cloud_run_v2_service_iam_member.chat_public may name everybody',
  },
  {
    mistake: 'a right on every database',
    file: 'iam.tf',
    from: String.raw`databases/${'${var.database_id}'}\"`,
    to: String.raw`databases/\"`,
    says: 'The functions may use this database, no other of the project.',
  },
  {
    mistake: 'a worker that may not ask again',
    file: 'iam.tf',
    from: `"publish_compaction" {
  for_each = local.function_members`,
    to: `"publish_compaction" {
  for_each = { chat = local.function_members.chat }`,
    says: 'Both functions publish to both topics, each right on its topic.',
  },
  {
    mistake: 'dead letters that nobody may publish',
    file: 'pubsub.tf',
    from: `  topic   = each.value
  role    = "roles/pubsub.publisher"`,
    to: `  topic   = each.value
  role    = "roles/pubsub.viewer"`,
    says: "Pub/Sub's own account must be allowed to publish dead letters.",
  },
  {
    mistake: 'dead letters that are never acknowledged',
    file: 'pubsub.tf',
    from: `  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent`,
    to: `  role         = "roles/pubsub.subscriber"
  member       = google_service_account.push.member`,
    says: 'must be allowed to acknowledge what it moves to the dead letters.',
  },
  {
    mistake: 'a subscription that expires',
    file: 'pubsub.tf',
    from: 'ttl = ""',
    to: 'ttl = "2678400s"',
    says: 'No subscription may expire.',
    lint: 'pubsub.tf: google_pubsub_subscription.compaction: may never expire: expiration_policy { ttl = "" }',
  },
  {
    mistake: 'an ordering key',
    file: 'pubsub.tf',
    from: 'enable_message_ordering = false',
    to: 'enable_message_ordering = true',
    says: 'No order: a poison message would block its conversation.',
    lint: 'pubsub.tf: google_pubsub_subscription.compaction: has an order: a poison message would block its conversation',
  },
  {
    mistake: 'a token that the worker refuses',
    file: 'pubsub.tf',
    from: 'audience              = local.push_audience',
    to: 'audience              = local.chat_url',
    says: 'Pub/Sub must push with the token that the worker expects.',
  },
  {
    mistake: 'a database that a destroy takes along',
    file: 'firestore.tf',
    from: '? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"',
    to: '? "DELETE_PROTECTION_DISABLED" : "DELETE_PROTECTION_ENABLED"',
    says: 'The database must survive a destroy unless it is said otherwise.',
  },
  {
    mistake: 'erasures that are forgotten before the backups',
    file: 'logging.tf',
    from: 'retention_days  = local.erasures_kept_days',
    to: 'retention_days  = 28',
    says: 'Who was erased must be known longer than any backup is kept.',
  },
  {
    mistake: 'a bucket that can be made public',
    file: 'storage.tf',
    from: 'public_access_prevention    = "enforced"',
    to: 'public_access_prevention    = "inherited"',
    says: 'No object of any bucket can be made public.',
    lint: 'storage.tf: google_storage_bucket.source: could be made public',
  },
  {
    mistake: 'an archive whose name stays',
    file: 'storage.tf',
    from: String.raw`"recap-${'${filesha256(var.source_archive)}'}.zip"`,
    to: '"recap.zip"',
    says: 'The archive is named by its content: else a new one is never deployed.',
  },
  {
    mistake: 'an API that goes off for others',
    file: 'apis.tf',
    from: 'disable_on_destroy = false',
    to: 'disable_on_destroy = true',
    says: 'Taking Recap away must not turn APIs off that others use.',
    lint: 'apis.tf: google_project_service.first: goes off for others: disable_on_destroy = false',
  },
  {
    mistake: 'an old runtime',
    file: 'functions.tf',
    from: '"nodejs24"',
    to: '"nodejs20"',
    says: 'Both functions are built from the one archive, for Node 24.',
    lint: 'functions.tf: google_cloudfunctions2_function.chat: runs on another runtime than nodejs24',
  },
  {
    mistake: 'a schedule that publishes something else',
    file: 'scheduler.tf',
    from: 'kind = "sweep"',
    to: 'kind = "clean"',
    says: "The schedule publishes the sweep to the worker's topic.",
  },
  {
    mistake: 'a rule whose name is none for Prometheus',
    file: 'monitoring.tf',
    from: 'alert_rule = replace(each.key, "-", "_")',
    to: 'alert_rule = each.key',
    says: 'The rule of an alert must have a name that Prometheus takes',
  },
  {
    mistake: 'a worker that the internet reaches',
    file: 'functions.tf',
    from: '"ALLOW_INTERNAL_ONLY"',
    to: '"ALLOW_ALL"',
    says: 'The worker must take no request from the internet.',
  },
];
