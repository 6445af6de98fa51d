import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Classes of messages that Google's SDKs only hand on to whoever wants them; what is sent is made of descriptions. */
const UNUSED_CLASSES =
  /[\\/](?:(?:firestore-api|pubsub-api|pubsub)[\\/]build[\\/]protos[\\/]protos|google-gax[\\/]build[\\/]protos[\\/](?:iam_service|locations))\.js$/;

/** Firestore's SDK looks for one that its pipelines use. */
const NO_CLASSES = 'module.exports = { google: { firestore: { v1: {} } } };';

/** Describes what Firestore and its administration are sent. */
const FIRESTORE_PROTOS = /[\\/]firestore-api[\\/]build[\\/]protos[\\/]protos\.json$/;

/** Describes a service that tells of regions: every client has a client of it, which it opens only to close it. */
const LOCATIONS_PROTOS = /[\\/]google-gax[\\/]build[\\/]protos[\\/]locations\.json$/;

/** The service without what it can be asked. */
const NO_LOCATIONS = ['Locations', 'location', 'cloud', 'google'].reduce<object>(
  (inner, name) => ({ nested: { [name]: inner } }),
  { methods: {} },
);

const PROTO_LOADER = /[\\/]@grpc[\\/]proto-loader[\\/]build[\\/]src[\\/]index\.js$/;

/** Throws Error where a text is not what it was when this was written. */
function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2)
    throw new Error(
      `an SDK has changed (infra/package/unused-protos.ts): ${from} is not in it once`,
    );
  return text.replace(from, () => to);
}

/** Without the packages of the administration. */
const documentProtos = (json: string): string =>
  JSON.stringify(JSON.parse(json), (key, value: unknown) =>
    key === 'admin' || key === 'longrunning' || key === 'api' ? undefined : value,
  );

/** Without descriptors, which a server tells its clients of: for each kind of them code would be generated. */
const withoutDescriptors = (source: string): string =>
  [
    ['require("protobufjs/ext/descriptor")', '{}'],
    ["const descriptorList = root.toDescriptor('proto3').file;", 'const descriptorList = [];'],
    ["const messageDescriptor = message.toDescriptor('proto3');", ''],
    ['messageDescriptor.$type.toObject(messageDescriptor, descriptorOptions)', '{}'],
    ["const enumDescriptor = enumType.toDescriptor('proto3');", ''],
    ['enumDescriptor.$type.toObject(enumDescriptor, descriptorOptions)', '{}'],
  ].reduce((text, [from = '', to = '']) => replaceOnce(text, from, to), source);

/**
 * Leaves out of Google's SDKs what no function sends: a client describes every message that it could send when it is
 * made, which was a fifth of what a first message takes of the processor.
 */
export const withoutUnusedProtos: Plugin = {
  name: 'without-unused-protos',
  setup(input) {
    input.onLoad({ filter: UNUSED_CLASSES }, () => ({ contents: NO_CLASSES }));
    input.onLoad({ filter: LOCATIONS_PROTOS }, () => ({
      contents: JSON.stringify(NO_LOCATIONS),
      loader: 'json',
    }));
    input.onLoad({ filter: FIRESTORE_PROTOS }, async ({ path }) => ({
      contents: documentProtos(await readFile(path, 'utf8')),
      loader: 'json',
    }));
    input.onLoad({ filter: PROTO_LOADER }, async ({ path }) => ({
      contents: withoutDescriptors(await readFile(path, 'utf8')),
    }));
  },
};
