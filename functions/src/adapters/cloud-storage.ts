import { readBytes } from '#functions/lib/read-bytes.ts';
import type { FileBucket, AccessTokens, Clock } from '#shared/ports/ports.ts';
import { UPLOAD_ADDRESS_SECONDS } from '#shared/uploads/limits.ts';
import { z } from 'zod';
import { AppError } from '#shared/lib/errors.ts';
import { createHash } from 'node:crypto';
import { googleFetch, type GoogleRequest } from './google-fetch.ts';

/** Why a file could not be read or stored. */
export const filesUnavailable = (
  problem: string,
  options: { isPermanent?: boolean; cause?: unknown } = {},
) =>
  new AppError({
    reason: 'FILES_UNAVAILABLE',
    message: `the bucket of uploads ${problem}`,
    publicMessage: 'Files cannot be read or stored right now. Try again in a moment.',
    retryable: options.isPermanent !== true,
    retryAfterMs: 1_000,
    cause: options.cause,
  });

/** A file of 20 MB within Google's network takes a second; an upload of a phone does not pass here. */
const TIMEOUT_MS = 30_000;
/** Failures that a second try usually ends. */
const TRIES = 2;

const isTransient = (status: number) => status === 408 || status === 429 || status >= 500;

/**
 * Sends a request to an API of Google, at most twice; undefined for a 404. Throws FILES_UNAVAILABLE for what is no
 * success, and the abortion of the request's signal.
 */
export async function googleRequest(
  tokens: AccessTokens,
  request: GoogleRequest,
): Promise<Response | undefined> {
  // Not `retry`: a failure is a status as often as an error, and only the last one is made an error of.
  for (let tries = 1; ; tries++) {
    let response: Response;
    try {
      response = await googleFetch(tokens, request, TIMEOUT_MS);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      if (tries < TRIES) continue;
      throw filesUnavailable('could not be reached', { cause: error });
    }
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    const isPermanent = !isTransient(response.status);
    if (isPermanent || tries === TRIES)
      throw filesUnavailable(`answered ${response.status}`, { isPermanent });
  }
}

/** A request as it is signed by Cloud Storage's V4 process, for addresses that carry their signature. */
export interface RequestToSign {
  method: 'GET' | 'PUT';
  /** With `https://`, without a slash at the end. */
  baseUrl: string;
  bucket: string;
  /** Name of the object. */
  path: string;
  /** Headers that the request must have, beside `host`; names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Other parameters of the address. */
  query?: Readonly<Record<string, string>>;
  /** E-mail of the account whose key signs. */
  signer: string;
  expiresSeconds: number;
  now: Date;
}

interface SigningForm {
  /** What is signed with RSA and SHA-256. */
  stringToSign: string;
  /** The address, whose signature is still missing. */
  urlWith: (signatureHex: string) => string;
}

const ALGORITHM = 'GOOG4-RSA-SHA256';

/** RFC 3986: everything but unreserved characters, as the signature demands. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : 1);

const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** The path of an object's address: its slashes separate, all else is encoded. */
const objectAddress = (bucket: string, path: string): string =>
  `/${[bucket, ...path.split('/')].map(encoded).join('/')}`;

/** `20260102T030405Z` */
const compactTime = (time: Date) => time.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');

/**
 * The V4 signing process of Cloud Storage (docs: "Canonical requests", "Signatures"): a canonical form of the
 * request, hashed, with algorithm, time and scope before it.
 */
export function signingForm(request: RequestToSign): SigningForm {
  const { baseUrl, signer, now } = request;
  const address = objectAddress(request.bucket, request.path);
  const headers = Object.entries({ ...request.headers, host: new URL(baseUrl).host }).toSorted(
    byName,
  );
  const signedHeaders = headers.map(([name]) => name).join(';');
  const time = compactTime(now);
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const query = queryOf({
    ...request.query,
    'X-Goog-Algorithm': ALGORITHM,
    'X-Goog-Credential': `${signer}/${scope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(request.expiresSeconds),
    'X-Goog-SignedHeaders': signedHeaders,
  });
  const canonical = [
    request.method,
    address,
    query,
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const hash = createHash('sha256').update(canonical, 'utf8').digest('hex');
  return {
    stringToSign: [ALGORITHM, time, scope, hash].join('\n'),
    urlWith: (signatureHex) => `${baseUrl}${address}?${query}&X-Goog-Signature=${signatureHex}`,
  };
}

export interface GcsBucketOptions {
  bucket: string;
  /** Where Cloud Storage is served, without a slash at the end. */
  baseUrl: string;
  /** Where IAM Service Account Credentials is served, without a slash at the end. */
  iamUrl: string;
  /** E-mail of the account that signs addresses. */
  signer: string;
  accessTokens: AccessTokens;
  clock: Pick<Clock, 'now'>;
}

/** Metadata are some hundred bytes a file. */
const JSON_MAX_BYTES = 4 * 1_024 * 1_024;
/** A lifecycle rule on the custom time does not reach a file that was kept before the end of this one. */
const KEPT_UNTIL = '2999-12-31T00:00:00Z';

const signedBlobSchema = z.object({ signedBlob: z.base64() });
const objectSchema = z.object({ contentType: z.string().default(''), size: z.coerce.number() });

async function bytesOf({ body }: Response, maxBytes: number): Promise<Buffer> {
  if (!body) return Buffer.alloc(0);
  try {
    return await readBytes(body, maxBytes);
  } catch (cause) {
    throw filesUnavailable('broke off, or answered with too much', { cause });
  }
}

async function jsonOf<Schema extends z.ZodType>(
  response: Response,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = (await bytesOf(response, JSON_MAX_BYTES)).toString('utf8');
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw filesUnavailable('answered with what cannot be read', { cause });
  }
}

/** Signs with the key of the account that Google keeps: none is in this process. */
async function signedUrl(
  { accessTokens, iamUrl, bucket, baseUrl, signer, clock }: GcsBucketOptions,
  request: Pick<RequestToSign, 'method' | 'path' | 'headers' | 'query'>,
): Promise<{ url: string; expireTime: Date }> {
  const now = clock.now();
  const expiresSeconds = UPLOAD_ADDRESS_SECONDS;
  const form = signingForm({ ...request, bucket, baseUrl, signer, expiresSeconds, now });
  const response = await googleRequest(accessTokens, {
    method: 'POST',
    url: `${iamUrl}/v1/projects/-/serviceAccounts/${encodeURIComponent(signer)}:signBlob`,
    json: { payload: Buffer.from(form.stringToSign, 'utf8').toString('base64') },
  });
  if (!response) throw filesUnavailable('has no such signer', { isPermanent: true });
  const { signedBlob } = await jsonOf(response, signedBlobSchema);
  return {
    url: form.urlWith(Buffer.from(signedBlob, 'base64').toString('hex')),
    expireTime: new Date(now.getTime() + expiresSeconds * 1_000),
  };
}

/** `attachment`, so that no file is run in the place of the app; RFC 8187 for names that are not ASCII. */
const disposition = (name: string | undefined) =>
  name === undefined ? 'attachment' : `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;

/** What an upload has to send along, all of it signed. */
const uploadHeaders = (mimeType: string, sizeBytes: number, now: Date) => ({
  'content-type': mimeType,
  'x-goog-content-length-range': `${sizeBytes},${sizeBytes}`,
  'x-goog-custom-time': now.toISOString(),
  'x-goog-if-generation-match': '0',
});

/**
 * A bucket of Cloud Storage over its REST API. Addresses are signed by the V4 process with IAM's signBlob; an
 * upload is signed with its type, its exact size, and that nothing stands there yet, all of which Cloud Storage
 * enforces. The account needs storage.objects.get, list, update, delete and create on the bucket, and
 * iam.serviceAccounts.signBlob on `signer`.
 */
export function createGcsBucket(options: GcsBucketOptions): FileBucket {
  const { accessTokens, baseUrl, bucket, clock } = options;
  const listUrl = `${baseUrl}/storage/v1/b/${encodeURIComponent(bucket)}/o`;
  const objectUrl = (path: string) => `${listUrl}/${encodeURIComponent(path)}`;
  const remove = async (path: string) => {
    await googleRequest(accessTokens, { method: 'DELETE', url: objectUrl(path) });
  };
  return {
    signUpload: async ({ path, mimeType, sizeBytes }) => {
      const headers = uploadHeaders(mimeType, sizeBytes, clock.now());
      const signed = await signedUrl(options, { method: 'PUT', path, headers });
      return { ...signed, method: 'PUT', headers };
    },
    signDownload: async ({ path, name }) => {
      const query = { 'response-content-disposition': disposition(name) };
      const signed = await signedUrl(options, { method: 'GET', path, headers: {}, query });
      return { ...signed, method: 'GET', headers: {} };
    },
    stat: async (path, signal) => {
      const url = `${objectUrl(path)}?fields=contentType,size`;
      const response = await googleRequest(accessTokens, { method: 'GET', url, signal });
      if (!response) return undefined;
      const { contentType, size } = await jsonOf(response, objectSchema);
      return { mimeType: contentType, sizeBytes: size };
    },
    read: async (path, { maxBytes, signal }) => {
      const url = `${objectUrl(path)}?alt=media`;
      const headers = { range: `bytes=0-${maxBytes - 1}` };
      const response = await googleRequest(accessTokens, { method: 'GET', url, headers, signal });
      if (!response) return undefined;
      return bytesOf(response, maxBytes);
    },
    keep: async (path) => {
      const json = { customTime: KEPT_UNTIL };
      await googleRequest(accessTokens, { method: 'PATCH', url: objectUrl(path), json });
    },
    delete: remove,
    uri: (path) => `gs://${bucket}/${path}`,
  };
}
