import { z } from 'zod';
import type { DiskFiles } from './disk-files.ts';

export interface StorageAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
}

const json = (status: number, body: object): StorageAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const notFound = json(404, { error: { code: 404, message: 'No such object.' } });
const patchSchema = z.strictObject({ customTime: z.iso.datetime() });
const PAGE = 1_000;

interface JsonCall {
  method: string;
  url: URL;
  range: string | undefined;
  body: Buffer;
}

async function media(files: DiskFiles, name: string, range: string | undefined) {
  const bytes = await files.read(name);
  if (!bytes) return notFound;
  const last = /^bytes=0-(\d+)$/.exec(range ?? '')?.[1];
  if (last === undefined) return { status: 200, body: bytes };
  return { status: 206, body: bytes.subarray(0, Number(last) + 1) };
}

function list(files: DiskFiles, prefix: string): StorageAnswer {
  const names = files.names(prefix).slice(0, PAGE);
  // A list without entries has no `items`.
  return json(200, { ...(names.length > 0 && { items: names.map((name) => ({ name })) }) });
}

function patch(files: DiskFiles, name: string, body: Buffer): StorageAnswer {
  const { customTime } = patchSchema.parse(JSON.parse(body.toString('utf8')));
  const before = files.metadata(name)?.customTime;
  if (before !== undefined && Date.parse(customTime) < Date.parse(before))
    return json(400, { error: { code: 400, message: 'Custom-Time cannot be moved back.' } });
  files.setCustomTime(name, customTime);
  return json(200, { name });
}

/** What we use of Cloud Storage's JSON API, on one bucket; undefined for an address that is none of it. */
export async function jsonApi(
  files: DiskFiles,
  bucket: string,
  { method, url, range, body }: JsonCall,
): Promise<StorageAnswer | undefined> {
  const root = `/storage/v1/b/${bucket}/o`;
  if (url.pathname === root) return list(files, url.searchParams.get('prefix') ?? '');
  if (!url.pathname.startsWith(`${root}/`)) return undefined;
  const name = decodeURIComponent(url.pathname.slice(root.length + 1));
  const found = files.metadata(name);
  if (!found) return notFound;
  switch (method) {
    case 'DELETE':
      await files.delete(name);
      return { status: 204 };
    case 'PATCH':
      return patch(files, name, body);
    default:
      return url.searchParams.get('alt') === 'media'
        ? media(files, name, range)
        : // Sizes are texts there: they may be larger than a number holds.
          json(200, { name, contentType: found.contentType, size: String(found.sizeBytes) });
  }
}
