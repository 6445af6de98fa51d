const adapters = 'functions/src/adapters';

/**
 * What looks like a call to Google and needs no right of a service account, with the reason: by the file, or by the
 * library where no file could use it otherwise.
 */
export const needsNoRight: readonly { where: RegExp; calls: readonly string[]; why: string }[] = [
  {
    where: /\/adapters\/firestore\.ts$/,
    calls: ['batch', 'create', 'update', 'delete', 'bulkWriter', 'onWriteResult', 'close'],
    why: 'collects writes, which commit and recursiveDelete send',
  },
  {
    where: /\/adapters\/firestore\.ts$/,
    calls: ['collection', 'doc', 'where', 'orderBy', 'limit', 'startAfter', 'docChanges', 'data'],
    why: 'builds a query or reads what has come',
  },
  {
    where: /\/adapters\/firestore\.ts$/,
    calls: ['toDate', 'split'],
    why: 'of a time, and of a text',
  },
  {
    where: new RegExp(`^${adapters}/pubsub\\.ts$`),
    calls: ['topic'],
    why: 'names a topic; only creating or reading one would send',
  },
  {
    where: new RegExp(`^${adapters}/access-tokens\\.ts$`),
    calls: ['getAccessToken'],
    why: 'the metadata server gives every instance tokens of its own account',
  },
  {
    where: new RegExp(`^${adapters}/cloud-storage\\.ts$`),
    calls: ['fetch method url'],
    why: 'sends what googleRequest is called with, and its calls are found themselves',
  },
  {
    where: new RegExp(`^${adapters}/gemini/gemini-transport\\.ts$`),
    calls: ['import request', 'import Agent', 'import globalAgent'],
    why: 'sends what the library of Gemini asks it to send, and keeps its connections',
  },
  {
    where: new RegExp(`^${adapters}/tokens\\.ts$`),
    calls: ['fetch GET url'],
    why: 'public keys, read without credentials',
  },
  {
    where: new RegExp(`^${adapters}/webhooks\\.ts$`),
    calls: ['fetch POST url'],
    why: 'a server of the operator, called without credentials of Google',
  },
  {
    where: /^functions\/src\/bootstrap\/framework\.ts$/,
    calls: ['import Server'],
    why: 'serves and calls nobody',
  },
  {
    where: /^functions\/src\/bootstrap\/register\.ts$/,
    calls: ['import @google-cloud/functions-framework'],
    why: 'serves and calls nobody',
  },
];
