interface Role {
  /** Of its permissions those that something here needs. */
  permissions: readonly string[];
  /** Of a role that allows more: what, and why no narrower one is given. */
  more?: string;
}

/** As Google lists them, here as of August 2026: https://cloud.google.com/iam/docs/roles-permissions */
export const roles: Readonly<Record<string, Role>> = {
  'roles/datastore.user': {
    permissions: [
      'datastore.entities.create',
      'datastore.entities.delete',
      'datastore.entities.get',
      'datastore.entities.list',
      'datastore.entities.update',
    ],
    more: 'reads schemas and statistics; the narrowest predefined role that writes, and a condition leaves one database',
  },
  'roles/firebaseauth.viewer': {
    permissions: ['firebaseauth.users.get'],
    more: 'reads the settings of Firebase Auth and the list of apps; identitytoolkit.viewer reads tenants in their place',
  },
  'roles/firebasecloudmessaging.admin': {
    permissions: ['cloudmessaging.messages.create'],
    more: 'topics and delivery data; no predefined role only sends',
  },
  'roles/pubsub.publisher': { permissions: ['pubsub.topics.publish'] },
  'roles/pubsub.subscriber': {
    permissions: ['pubsub.subscriptions.consume'],
    more: 'seeks, and attaches to topics; given on one subscription, where only consuming is left',
  },
  'roles/storage.objectUser': {
    permissions: [
      'storage.objects.create',
      'storage.objects.delete',
      'storage.objects.get',
      'storage.objects.list',
      'storage.objects.update',
    ],
    more: 'folders and multipart uploads; the narrowest predefined role that deletes and reads, on one bucket. The worker would need get and delete alone',
  },
  'roles/storage.objectViewer': {
    permissions: ['storage.objects.get', 'storage.objects.list'],
    more: 'reads folders, on buckets that have none',
  },
  'roles/iam.serviceAccountOpenIdTokenCreator': {
    permissions: ['iam.serviceAccounts.getOpenIdToken'],
  },
  'roles/run.invoker': {
    permissions: ['run.routes.invoke'],
    more: 'jobs and instances; given on one service, which has none, where run.servicesInvoker allows the same',
  },
  'roles/secretmanager.secretAccessor': {
    permissions: ['secretmanager.versions.access'],
    more: 'reads projects, which a right on one secret does not reach',
  },
  'roles/logging.logWriter': {
    permissions: ['logging.logEntries.create'],
    more: 'routes entries; the role that Google documents for builds, as what only writes is beta',
  },
  'roles/artifactregistry.writer': {
    permissions: [
      'artifactregistry.repositories.downloadArtifacts',
      'artifactregistry.repositories.uploadArtifacts',
    ],
    more: 'packages of other formats, of which this repository takes none',
  },
};

/** Rights that serve no call of the code: whom they serve. */
export const servesNoCall: Readonly<Record<string, string>> = {
  'google_cloud_run_v2_service_iam_member.chat_public':
    'apps have no credentials of Google; chat checks their ID tokens',
  'google_cloud_run_v2_service_iam_member.compaction_push':
    'Pub/Sub calls the worker as recap-push',
  'google_service_account_iam_member.push_tokens': 'Pub/Sub signs the tokens of its pushes',
  'google_pubsub_topic_iam_member.dead_letters': 'Pub/Sub publishes dead letters itself',
  'google_pubsub_subscription_iam_member.dead_letters':
    'Pub/Sub acknowledges what it has moved to the dead letters',
  'google_secret_manager_secret_iam_member.functions':
    'Cloud Run reads the values of environment variables as the account of the function, when an instance starts',
  'google_storage_bucket_iam_member.uploads_of_vertex': 'Vertex AI reads attached files itself',
  'google_project_iam_member.build_logs': 'Cloud Build writes the log of a build',
  'google_project_iam_member.build_sources': 'Cloud Build reads the archive',
  'google_artifact_registry_repository_iam_member.build':
    'Cloud Build pushes images and reads layers',
};
