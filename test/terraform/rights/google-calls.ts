/** The service account of a function. */
type Account = 'chat' | 'compaction';

interface GoogleCall {
  /** Google's name of the method. */
  method: string;
  accounts: readonly Account[];
  /** What the accounts must be allowed. */
  permissions: readonly string[];
}

const both = ['chat', 'compaction'] as const;
const chat = ['chat'] as const;
const compaction = ['compaction'] as const;

const get = 'datastore.entities.get';
const list = 'datastore.entities.list';
const written = [
  'datastore.entities.create',
  'datastore.entities.update',
  'datastore.entities.delete',
];
const predict = ['aiplatform.endpoints.predict'];

/** Every call that the functions make to Google's APIs as their service accounts, by the page that names its permissions. */
export const googleCalls: Readonly<Record<string, readonly GoogleCall[]>> = {
  'https://cloud.google.com/firestore/docs/security/iam': [
    { method: 'BatchGetDocuments', accounts: both, permissions: [get] },
    { method: 'RunQuery', accounts: both, permissions: [get] },
    { method: 'RunAggregationQuery', accounts: both, permissions: [get] },
    { method: 'Commit', accounts: both, permissions: written },
    { method: 'ListCollectionIds', accounts: both, permissions: [list] },
    { method: 'Listen', accounts: chat, permissions: [get, list] },
    { method: 'BatchWrite', accounts: both, permissions: ['datastore.entities.delete'] },
  ],
  'https://cloud.google.com/vertex-ai/generative-ai/docs/access-control': [
    { method: 'generateContent', accounts: both, permissions: predict },
    { method: 'streamGenerateContent', accounts: chat, permissions: predict },
    { method: 'countTokens', accounts: compaction, permissions: predict },
  ],
  'https://cloud.google.com/pubsub/docs/access-control': [
    { method: 'topics.publish', accounts: both, permissions: ['pubsub.topics.publish'] },
  ],
  'https://cloud.google.com/storage/docs/access-control/iam-json': [
    {
      method: 'serviceAccounts.signBlob',
      accounts: chat,
      permissions: ['iam.serviceAccounts.signBlob'],
    },
    // Whoever has the address does with it what its signer may do: here only create, as nothing may stand there yet.
    { method: 'signed PUT', accounts: chat, permissions: ['storage.objects.create'] },
    { method: 'signed GET', accounts: chat, permissions: ['storage.objects.get'] },
    { method: 'objects.get', accounts: both, permissions: ['storage.objects.get'] },
    {
      method: 'objects.patch',
      accounts: chat,
      permissions: ['storage.objects.get', 'storage.objects.update'],
    },
    { method: 'objects.delete', accounts: both, permissions: ['storage.objects.delete'] },
  ],
  'https://firebase.google.com/docs/projects/iam/permissions': [
    {
      method: 'messages.send',
      accounts: compaction,
      permissions: ['cloudmessaging.messages.create'],
    },
  ],
  'https://cloud.google.com/identity-platform/docs/reference/rest/v1/projects.accounts/lookup': [
    { method: 'accounts.lookup', accounts: chat, permissions: ['firebaseauth.users.get'] },
  ],
};
