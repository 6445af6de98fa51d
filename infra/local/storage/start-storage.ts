import { openServer } from '#infra/local/processes/open-server.ts';
import { refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { createHash, verify, type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';

/*
 * A fake of Cloud Storage and of IAM's signBlob: one bucket, in memory. It takes what is signed as Cloud Storage
 * does, and the JSON API with any access token.
 */

/** A request as it came over the wire; header names in lower case. */
interface Arrival {
  method: string;
  /** Path and query, as they were written. */
  target: string;
  url: URL;
  headers: Readonly<Record<string, string | undefined>>;
  /** undefined: it was too large. */
  body: Buffer | undefined;
}

interface StorageAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
}

const failure = (status: number, code: string, message: string): StorageAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

/** Seven days: the longest that Cloud Storage lets an address live. */
const LONGEST_SECONDS = 604_800;

/** `20260102T030405Z` as milliseconds, NaN for anything else. */
const timeOf = (text: string) =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

/** The parameters as they are written, without the signature, in the order of their names. */
const canonicalQuery = (query: string) =>
  query
    .split('&')
    .filter((pair) => !pair.startsWith('X-Goog-Signature='))
    .toSorted()
    .join('&');

function canonicalHash(arrival: Arrival, signedHeaders: readonly string[]): string {
  const [path = '', query = ''] = arrival.target.split('?');
  const headers = signedHeaders.map((name) => `${name}:${(arrival.headers[name] ?? '').trim()}\n`);
  const canonical = `${arrival.method}\n${path}\n${canonicalQuery(query)}\n${headers.join('')}\n${signedHeaders.join(';')}\nUNSIGNED-PAYLOAD`;
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}

/** Headers that Cloud Storage demands to be signed where a request has them. */
const mustBeSigned = (name: string) =>
  name === 'host' || name === 'content-type' || name.startsWith('x-goog-');

/**
 * Judges an address with a V4 signature as Cloud Storage does: from the request alone, by its own canonical form,
 * with the public key. undefined: it is good.
 */
function findRefusal(
  arrival: Arrival,
  { publicKey, now }: { publicKey: KeyObject; now: Date },
): StorageAnswer | undefined {
  const value = (name: string) => arrival.url.searchParams.get(`X-Goog-${name}`) ?? '';
  const signature = value('Signature');
  if (signature === '') return failure(403, 'AccessDenied', 'Anonymous caller has no access.');
  if (value('Algorithm') !== 'GOOG4-RSA-SHA256')
    return failure(400, 'InvalidArgument', 'Unknown algorithm.');
  const [startMs, seconds] = [timeOf(value('Date')), Number(value('Expires'))];
  if (Number.isNaN(startMs) || !(seconds > 0 && seconds <= LONGEST_SECONDS))
    return failure(400, 'InvalidArgument', 'Invalid date or expiration.');
  if (now.getTime() > startMs + seconds * 1_000)
    return failure(400, 'ExpiredToken', 'The provided token has expired.');
  const signedHeaders = value('SignedHeaders').split(';');
  const missing = Object.keys(arrival.headers).filter(
    (name) => mustBeSigned(name) && !signedHeaders.includes(name),
  );
  if (missing.length > 0)
    return failure(
      400,
      'MalformedSecurityHeader',
      `Header was included, but not signed: ${missing.join(', ')}`,
    );
  const scope = value('Credential').split('/').slice(1).join('/');
  const stringToSign = `GOOG4-RSA-SHA256\n${value('Date')}\n${scope}\n${canonicalHash(arrival, signedHeaders)}`;
  const isGood = verify(
    'sha256',
    Buffer.from(stringToSign, 'utf8'),
    publicKey,
    Buffer.from(signature, 'hex'),
  );
  return isGood
    ? undefined
    : failure(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.');
}

interface StoredFile {
  contentType: string;
  bytes: Buffer;
  customTime?: string | undefined;
}

/** The objects of a bucket, by their names. */
type StoredFiles = Map<string, StoredFile>;

const json = (status: number, body: object): StorageAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const notFound = json(404, { error: { code: 404, message: 'No such object.' } });
const patchSchema = z.strictObject({ customTime: z.iso.datetime() });

function media({ bytes }: StoredFile, range: string | undefined): StorageAnswer {
  const last = /^bytes=0-(\d+)$/.exec(range ?? '')?.[1];
  if (last === undefined) return { status: 200, body: bytes };
  return { status: 206, body: bytes.subarray(0, Number(last) + 1) };
}

function patch(file: StoredFile, body: Buffer | undefined): StorageAnswer {
  const { customTime } = patchSchema.parse(JSON.parse(String(body)));
  const before = file.customTime;
  if (before !== undefined && Date.parse(customTime) < Date.parse(before))
    return json(400, { error: { code: 400, message: 'Custom-Time cannot be moved back.' } });
  file.customTime = customTime;
  return json(200, {});
}

/** What we use of Cloud Storage's JSON API, on one bucket; undefined for an address that is none of it. */
function jsonApi(
  files: StoredFiles,
  bucket: string,
  { method, url, headers, body }: Arrival,
): StorageAnswer | undefined {
  const root = `/storage/v1/b/${bucket}/o`;
  if (!url.pathname.startsWith(`${root}/`)) return undefined;
  const name = decodeURIComponent(url.pathname.slice(root.length + 1));
  const file = files.get(name);
  if (!file) return notFound;
  switch (method) {
    case 'DELETE':
      files.delete(name);
      return { status: 204 };
    case 'PATCH':
      return patch(file, body);
    default:
      return url.searchParams.get('alt') === 'media'
        ? media(file, headers['range'])
        : // Sizes are texts there: they may be larger than a number holds.
          json(200, { name, contentType: file.contentType, size: String(file.bytes.length) });
  }
}

interface StorageOptions {
  bucket: string;
  /** Default 0: any free port. */
  port?: number;
  /** Whose pages may call it, beside those of this machine. */
  origins?: readonly string[];
  /** Default: the clock of this machine. */
  now?: () => Date;
}

export interface LocalStorage {
  url: string;
  files: StoredFiles;
  /** The next requests of this method are answered with this status. */
  fail(method: string, status: number, times?: number): void;
  /** Access tokens that are not taken any more. */
  revoke(accessToken: string): void;
  close(): Promise<void>;
}

/** More than any upload; a body that is larger is not kept. */
const BODY_MAX_BYTES = 32 * 1_024 * 1_024;

const signBlobSchema = z.strictObject({ payload: z.base64() });

function signBlob(body: Buffer | undefined, privateKey: KeyObject): StorageAnswer {
  const { payload } = signBlobSchema.parse(JSON.parse(String(body)));
  const signedBlob = sign('sha256', Buffer.from(payload, 'base64'), privateKey).toString('base64');
  return { status: 200, body: JSON.stringify({ keyId: 'local', signedBlob }) };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    // Read to its end, or the client would not see the answer.
    if (size <= BODY_MAX_BYTES) chunks.push(bytes);
  }
  return size > BODY_MAX_BYTES ? undefined : Buffer.concat(chunks);
}

async function readArrival(request: IncomingMessage): Promise<Arrival> {
  const { method = 'GET', url: target = '/' } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
  );
  const body = await bodyOf(request);
  return { method, url: new URL(target, 'http://storage'), target, headers, body };
}

/** What a browser asks first. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, PUT',
  'access-control-allow-headers': '*',
};

/** A PUT or GET of an object by its signed address. */
function xmlApi(
  files: StoredFiles,
  bucket: string,
  { method, url, headers, body }: Arrival,
): StorageAnswer {
  const root = `/${bucket}/`;
  if (!url.pathname.startsWith(root))
    return failure(404, 'NoSuchBucket', 'There is no such bucket.');
  const name = url.pathname.slice(root.length).split('/').map(decodeURIComponent).join('/');
  if (method === 'GET') {
    const file = files.get(name);
    if (!file) return failure(404, 'NoSuchKey', 'There is no such object.');
    const disposition = url.searchParams.get('response-content-disposition') ?? 'inline';
    const answered = { 'content-type': file.contentType, 'content-disposition': disposition };
    return { status: 200, headers: answered, body: file.bytes };
  }
  if (method !== 'PUT') return failure(405, 'MethodNotAllowed', 'PUT or GET.');
  const [least = 0, most = Infinity] = (headers['x-goog-content-length-range'] ?? '0,')
    .split(',')
    .map((text) => (text === '' ? Infinity : Number(text)));
  if (!body || body.length > most)
    return failure(400, 'EntityTooLarge', 'The upload is too large.');
  if (body.length < least) return failure(400, 'EntityTooSmall', 'The upload is too small.');
  if (headers['x-goog-if-generation-match'] === '0' && files.has(name))
    return failure(412, 'PreconditionFailed', 'The object is there already.');
  const contentType = headers['content-type'] ?? 'application/octet-stream';
  files.set(name, { bytes: body, contentType, customTime: headers['x-goog-custom-time'] });
  return { status: 200 };
}

/** Starts the fake of Cloud Storage on the loopback interface. */
export async function startStorage(options: StorageOptions): Promise<LocalStorage> {
  const { bucket, origins = [], now = () => new Date() } = options;
  const files: StoredFiles = new Map();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const failures: { method: string; status: number }[] = [];
  const revoked = new Set<string>();

  const answer = (arrival: Arrival): StorageAnswer => {
    const { method, url, headers, body } = arrival;
    if (method === 'OPTIONS') return { status: 204, headers: CORS };
    const due = failures.findIndex((queued) => queued.method === method);
    const [fault] = due === -1 ? [] : failures.splice(due, 1);
    if (fault) return failure(fault.status, 'Fault', 'As it was told to.');
    const token = headers['authorization']?.replace(/^Bearer /, '');
    if (token === undefined) {
      const refusal = findRefusal(arrival, { publicKey, now: now() });
      return refusal ?? xmlApi(files, bucket, arrival);
    }
    if (revoked.has(token)) return failure(401, 'Unauthenticated', 'Another token, please.');
    if (/^\/v1\/projects\/-\/serviceAccounts\/[^/]+:signBlob$/.test(url.pathname))
      return signBlob(body, privateKey);
    return jsonApi(files, bucket, arrival) ?? failure(404, 'NotFound', 'No such address.');
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const given = answer(await readArrival(request));
    response.writeHead(given.status, { ...CORS, ...given.headers }).end(given.body);
  };

  const server = createServer((request, response) => {
    // A defect of the fake must fail the request that met it, not hang it.
    serve(request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });
  refuseForeign(server, origins);
  const { url, close } = await openServer(server, options.port);
  return {
    url,
    files,
    fail: (method, status, times = 1) => {
      for (let count = 0; count < times; count++) failures.push({ method, status });
    },
    revoke: (accessToken) => void revoked.add(accessToken),
    close,
  };
}
