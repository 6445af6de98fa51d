import { inParallel } from '#functions/lib/promises.ts';
import { readBytes } from '#functions/lib/read-bytes.ts';
import type { FileBucket, AccessTokens, Clock } from '#shared/ports/ports.ts';
import { UPLOAD_ADDRESS_SECONDS } from '#shared/uploads/limits.ts';
import { signingForm, type RequestToSign } from './gcs-signature.ts';
import { filesUnavailable, googleRequest } from './google-request.ts';
import { z } from 'zod';

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

/** Metadata and lists of names are some hundred bytes a file. */
const JSON_MAX_BYTES = 4 * 1_024 * 1_024;
/** Deletions at the same time. */
const DELETIONS = 8;
/** A lifecycle rule on the custom time does not reach a file that was kept before the end of this one. */
const KEPT_UNTIL = '2999-12-31T00:00:00Z';

const signedBlobSchema = z.object({ signedBlob: z.base64() });
const objectSchema = z.object({ contentType: z.string().default(''), size: z.coerce.number() });
const listSchema = z.object({
  items: z.array(z.object({ name: z.string() })).default([]),
  nextPageToken: z.string().optional(),
});

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

/** The next names below a folder; none: it is empty. */
async function namesBelow(
  { accessTokens }: GcsBucketOptions,
  listUrl: string,
  folder: string,
): Promise<string[]> {
  const query = new URLSearchParams({
    prefix: `${folder}/`,
    fields: 'items/name,nextPageToken',
  });
  const url = `${listUrl}?${query.toString()}`;
  const response = await googleRequest(accessTokens, { method: 'GET', url });
  if (!response) throw filesUnavailable('is not there', { isPermanent: true });
  return (await jsonOf(response, listSchema)).items.map(({ name }) => name);
}

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
    deleteFolder: async (path) => {
      let deleted = 0;
      for (;;) {
        const names = await namesBelow(options, listUrl, path);
        if (names.length === 0) return deleted;
        await inParallel(names, DELETIONS, remove);
        deleted += names.length;
      }
    },
    uri: (path) => `gs://${bucket}/${path}`,
  };
}
