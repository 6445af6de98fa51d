/** The service account of a function. */
export type Account = 'chat' | 'compaction';

/** What one call of the code asks of Google. */
interface GoogleCall {
  /** Google's name of the method, or of several. Of Firestore those of its gRPC service. */
  method: string;
  /** What the account must be allowed. */
  permissions: readonly string[];
  /** Methods of the port through which the functions make the call. */
  ports: readonly string[];
  accounts: readonly Account[];
}

/** The calls of one file. */
interface Caller {
  /** What makes the adapter, in functions/src/dependencies.ts. */
  madeBy: string;
  /** Where Google says which permissions the methods need. */
  source: string;
  calls: Readonly<Record<string, GoogleCall>>;
}

const both = ['chat', 'compaction'] as const;
const chat = ['chat'] as const;
const compaction = ['compaction'] as const;

const FIRESTORE = 'https://cloud.google.com/firestore/docs/security/iam';
const STORAGE = 'https://cloud.google.com/storage/docs/access-control/iam-json';
const VERTEX = 'https://cloud.google.com/vertex-ai/generative-ai/docs/access-control';
const LOOKUP =
  'https://cloud.google.com/identity-platform/docs/reference/rest/v1/projects.accounts/lookup';

const get = 'datastore.entities.get';
const list = 'datastore.entities.list';
const written = [
  'datastore.entities.create',
  'datastore.entities.update',
  'datastore.entities.delete',
];
const predict = ['aiplatform.endpoints.predict'];

const firestore: Caller = {
  madeBy: 'createStore',
  source: FIRESTORE,
  calls: {
    getAll: { method: 'BatchGetDocuments', permissions: [get], ports: ['get'], accounts: both },
    get: { method: 'RunQuery', permissions: [get], ports: ['query'], accounts: both },
    aggregate: {
      method: 'RunAggregationQuery',
      permissions: [get],
      ports: ['sum'],
      accounts: both,
    },
    commit: { method: 'Commit', permissions: written, ports: ['commit'], accounts: both },
    listCollections: {
      method: 'ListCollectionIds',
      permissions: [list],
      ports: ['deleteBelow'],
      accounts: both,
    },
    onSnapshot: { method: 'Listen', permissions: [get, list], ports: ['watch'], accounts: chat },
    recursiveDelete: {
      method: 'RunQuery, BatchWrite',
      permissions: [get, 'datastore.entities.delete'],
      ports: ['deleteBelow'],
      accounts: both,
    },
  },
};

const model: Caller = {
  madeBy: 'createModel',
  source: VERTEX,
  calls: {
    generateContent: {
      method: 'generateContent',
      permissions: predict,
      ports: ['generate'],
      accounts: both,
    },
    countTokens: {
      method: 'countTokens',
      permissions: predict,
      ports: ['countTokens'],
      accounts: compaction,
    },
  },
};

const modelStream: Caller = {
  madeBy: 'createModel',
  source: VERTEX,
  calls: {
    generateContentStream: {
      method: 'streamGenerateContent',
      permissions: predict,
      ports: ['stream'],
      accounts: chat,
    },
  },
};

const publisher: Caller = {
  madeBy: 'createPublisher',
  source: 'https://cloud.google.com/pubsub/docs/access-control',
  calls: {
    publishMessage: {
      method: 'projects.topics.publish',
      permissions: ['pubsub.topics.publish'],
      ports: ['publish'],
      accounts: both,
    },
  },
};

const bucket: Caller = {
  madeBy: 'createFiles',
  source: STORAGE,
  calls: {
    'googleRequest POST `${iamUrl}/v1/projects/-/serviceAccounts/${encodeURIComponent(signer)}:signBlob`':
      {
        method: 'projects.serviceAccounts.signBlob',
        permissions: ['iam.serviceAccounts.signBlob'],
        ports: ['signUpload', 'signDownload'],
        accounts: chat,
      },
    // Whoever has the address does with it what its signer may do: here only create, as nothing may stand there yet.
    'signedUrl PUT options': {
      method: 'PUT of an object (XML API)',
      permissions: ['storage.objects.create'],
      ports: ['signUpload'],
      accounts: chat,
    },
    'signedUrl GET options': {
      method: 'GET of an object (XML API)',
      permissions: ['storage.objects.get'],
      ports: ['signDownload'],
      accounts: chat,
    },
    'googleRequest GET `${objectUrl(path)}?fields=contentType,size`': {
      method: 'objects.get',
      permissions: ['storage.objects.get'],
      ports: ['stat'],
      accounts: both,
    },
    'googleRequest GET `${objectUrl(path)}?alt=media`': {
      method: 'objects.get',
      permissions: ['storage.objects.get'],
      ports: ['read'],
      accounts: both,
    },
    'googleRequest PATCH objectUrl(path)': {
      method: 'objects.patch',
      permissions: ['storage.objects.get', 'storage.objects.update'],
      ports: ['keep'],
      accounts: chat,
    },
    'googleRequest DELETE objectUrl(path)': {
      method: 'objects.delete',
      permissions: ['storage.objects.delete'],
      ports: ['delete', 'deleteFolder'],
      accounts: both,
    },
    'googleRequest GET `${listUrl}?${query.toString()}`': {
      method: 'objects.list',
      permissions: ['storage.objects.list'],
      ports: ['deleteFolder'],
      accounts: chat,
    },
  },
};

const notifier: Caller = {
  madeBy: 'createNotifier',
  source: 'https://firebase.google.com/docs/projects/iam/permissions',
  calls: {
    'fetch POST `${baseUrl}/v1/projects/${projectId}/messages:send`': {
      method: 'projects.messages.send',
      permissions: ['cloudmessaging.messages.create'],
      ports: ['send'],
      accounts: compaction,
    },
  },
};

const revocations: Caller = {
  madeBy: 'createRevocationCheck',
  source: LOOKUP,
  calls: {
    'fetch POST addressFor(options, holder)': {
      method: 'projects.accounts.lookup',
      permissions: ['firebaseauth.users.get'],
      ports: ['check'],
      accounts: chat,
    },
  },
};

const adapters = 'functions/src/adapters';

/** Every call that the functions make to Google's APIs as their service accounts. */
export const googleCalls: Readonly<Record<string, Caller>> = {
  [`${adapters}/firestore.ts`]: firestore,
  [`${adapters}/gemini/gemini-model.ts`]: model,
  [`${adapters}/gemini/gemini-stream.ts`]: modelStream,
  [`${adapters}/pubsub.ts`]: publisher,
  [`${adapters}/cloud-storage.ts`]: bucket,
  [`${adapters}/fcm.ts`]: notifier,
  [`${adapters}/accounts.ts`]: revocations,
};
