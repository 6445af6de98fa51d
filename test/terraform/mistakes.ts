import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terraformFolder } from './check-terraform.ts';

/** A change of one place in a file. */
interface Change {
  mistake: string;
  file: string;
  /** Text that stands there; the first one is replaced. */
  from: string;
  to: string;
}

export interface Mistake extends Change {
  /** What Terraform says. */
  says: string;
  /** What the lint says, where it sees it. */
  lint?: string;
}

/** What is no configuration: `terraform validate` says so. */
export const invalid: Mistake[] = [
  {
    mistake: 'an argument that there is not',
    file: 'pubsub.tf',
    from: 'message_retention_duration = local.dead_letters_kept',
    to: 'retention_duration = local.dead_letters_kept',
    says: 'An argument named "retention_duration" is not expected here',
    lint: 'pubsub.tf: google_pubsub_subscription.compaction_dead: has no argument and no block "retention_duration"',
  },
  {
    mistake: 'an argument that is missing',
    file: 'scheduler.tf',
    from: 'topic_name = google_pubsub_topic.compaction.id',
    to: '',
    says: 'The argument "topic_name" is required',
    lint: 'scheduler.tf: google_cloud_scheduler_job.sweep: pubsub_target: the argument "topic_name" is required',
  },
  {
    mistake: 'a value of another type',
    file: 'apis.tf',
    from: 'disable_on_destroy = false',
    to: 'disable_on_destroy = "never"',
    says: 'Inappropriate value for attribute "disable_on_destroy": a bool is required',
    lint: 'apis.tf: google_project_service.required: "disable_on_destroy": a bool is required',
  },
  {
    mistake: 'an attribute that there is not',
    file: 'outputs.tf',
    from: 'google_service_account.push.email',
    to: 'google_service_account.push.mail',
    says: 'This object has no argument, nested block, or exported attribute named "mail"',
    lint: 'outputs.tf: output.service_accounts: google_service_account.push has no attribute "mail"',
  },
  {
    mistake: 'a block that there is not',
    file: 'secrets.tf',
    from: 'auto {}',
    to: 'automatic {}',
    says: 'Blocks of type "automatic" are not expected here',
    lint: 'secrets.tf: google_secret_manager_secret.secret: replication: has no argument and no block "automatic"',
  },
  {
    mistake: 'a variable that nobody declares',
    file: 'firestore.tf',
    from: 'var.point_in_time_recovery ?',
    to: 'var.recovery ?',
    says: 'An input variable with the name "recovery" has not been declared',
    lint: 'firestore.tf: google_firestore_database.this: no variable "recovery" is declared',
  },
];

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
    lint: 'apis.tf: google_project_service.required: goes off for others: disable_on_destroy = false',
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

/** What the lint alone has to see: a resource has one fault here, for these are planted all at once. */
export const seenByLint: (Change & { lint: string })[] = [
  {
    mistake: 'a resource that the provider does not have',
    file: 'scheduler.tf',
    from: 'resource "google_cloud_scheduler_job"',
    to: 'resource "google_cloud_scheduler_task"',
    lint: 'scheduler.tf: google_cloud_scheduler_task.sweep: the provider has no type "google_cloud_scheduler_task" that is known here',
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

/** A copy of the module with all of these mistakes: `<folder>/terraform`. The caller removes the folder. */
export async function plant(mistakes: readonly Change[]): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'recap-mistakes-'));
  const folder = join(copy, 'terraform');
  await cp(terraformFolder, folder, { recursive: true });
  const firestore = join('infra', 'firestore');
  await cp(join(terraformFolder, '..', firestore), join(copy, firestore), { recursive: true });
  for (const { file, from, to } of mistakes) {
    const text = await readFile(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    await writeFile(
      join(folder, file),
      text.replace(from, () => to),
    );
  }
  return copy;
}
