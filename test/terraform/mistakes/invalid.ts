import type { Mistake } from './plant.ts';

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
    lint: 'apis.tf: google_project_service.first: "disable_on_destroy": a bool is required',
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
