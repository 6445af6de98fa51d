import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { openServer } from '../processes/open-server.ts';
import { refuseForeign } from '../processes/refuse-foreign.ts';
import { jsonApi, type StorageAnswer, type StoredFiles } from './json-api.ts';
import { findRefusal } from './verify-signature.ts';

/*
 * A fake of Cloud Storage and of IAM's signBlob: one bucket, in memory. It takes what is signed as Cloud Storage
 * does, and the JSON API with any access token.
 */

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

function signBlob(body: Buffer, privateKey: KeyObject): StorageAnswer {
  const { payload } = signBlobSchema.parse(JSON.parse(body.toString('utf8')));
  const signedBlob = sign('sha256', Buffer.from(payload, 'base64'), privateKey).toString('base64');
  return { status: 200, body: JSON.stringify({ keyId: 'local', signedBlob }) };
}

const failure = (status: number, code: string, message: string): StorageAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

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

interface Arrival {
  method: string;
  url: URL;
  target: string;
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer | undefined;
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
    const { method, url, headers, target, body } = arrival;
    if (method === 'OPTIONS') return { status: 204, headers: CORS };
    const due = failures.findIndex((queued) => queued.method === method);
    const [fault] = due === -1 ? [] : failures.splice(due, 1);
    if (fault) return failure(fault.status, 'Fault', 'As it was told to.');
    const token = headers['authorization']?.replace(/^Bearer /, '');
    if (token === undefined) {
      const verdict = findRefusal({ method, target, headers }, { publicKey, now: now() });
      if (verdict) return failure(verdict.status, verdict.code, verdict.message);
      return xmlApi(files, bucket, arrival);
    }
    if (revoked.has(token)) return failure(401, 'Unauthenticated', 'Another token, please.');
    if (/^\/v1\/projects\/-\/serviceAccounts\/[^/]+:signBlob$/.test(url.pathname))
      return signBlob(body ?? Buffer.alloc(0), privateKey);
    const call = { method, url, range: headers['range'], body: body ?? Buffer.alloc(0) };
    return jsonApi(files, bucket, call) ?? failure(404, 'NotFound', 'No such address.');
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
