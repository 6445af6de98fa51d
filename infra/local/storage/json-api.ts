import { z } from 'zod';

interface StoredFile {
  contentType: string;
  bytes: Buffer;
  customTime?: string | undefined;
}

/** The objects of a bucket, by their names. */
export type StoredFiles = Map<string, StoredFile>;

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

function media({ bytes }: StoredFile, range: string | undefined): StorageAnswer {
  const last = /^bytes=0-(\d+)$/.exec(range ?? '')?.[1];
  if (last === undefined) return { status: 200, body: bytes };
  return { status: 206, body: bytes.subarray(0, Number(last) + 1) };
}

function list(files: StoredFiles, prefix: string): StorageAnswer {
  const names = [...files.keys()].filter((name) => name.startsWith(prefix)).toSorted();
  // A list without entries has no `items`.
  return json(200, {
    ...(names.length > 0 && { items: names.slice(0, PAGE).map((name) => ({ name })) }),
  });
}

function patch(file: StoredFile, body: Buffer): StorageAnswer {
  const { customTime } = patchSchema.parse(JSON.parse(body.toString('utf8')));
  const before = file.customTime;
  if (before !== undefined && Date.parse(customTime) < Date.parse(before))
    return json(400, { error: { code: 400, message: 'Custom-Time cannot be moved back.' } });
  file.customTime = customTime;
  return json(200, {});
}

/** What we use of Cloud Storage's JSON API, on one bucket; undefined for an address that is none of it. */
export function jsonApi(
  files: StoredFiles,
  bucket: string,
  { method, url, range, body }: JsonCall,
): StorageAnswer | undefined {
  const root = `/storage/v1/b/${bucket}/o`;
  if (url.pathname === root) return list(files, url.searchParams.get('prefix') ?? '');
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
        ? media(file, range)
        : // Sizes are texts there: they may be larger than a number holds.
          json(200, { name, contentType: file.contentType, size: String(file.bytes.length) });
  }
}
