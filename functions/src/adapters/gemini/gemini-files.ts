import { inParallel } from '#shared/lib/in-parallel.ts';
import type { Content, Part, UploadedFile } from '#shared/models/content.ts';
import type { PromptFiles } from '#shared/models/model-entry.ts';
import type {
  FileBucket,
  ModelGenerator,
  ModelStreamer,
  Prompt,
  TokenCounter,
} from '#shared/ports/ports.ts';
import {
  namesUploads,
  resolvedContents,
  shownFiles,
  withinLimits,
  type FileAnswer,
} from '#shared/uploads/files-of-request.ts';
import { FILES_MAX_BYTES } from '#shared/uploads/limits.ts';
import { uploadsIn } from '#shared/uploads/upload-parts.ts';
import { LRUCache } from 'lru-cache';

/** The items of what `open` resolves to, opened when the first one is asked for; later ones cost nothing extra. */
export function opened<T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      let items: AsyncIterator<T> | undefined;
      const first = async () => {
        items = (await open())[Symbol.asyncIterator]();
        return items.next();
      };
      return {
        next: () => (items ? items.next() : first()),
        return: async () => (await items?.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

export interface FileResolving {
  /** Undefined where the deployment takes no uploads (any more). */
  files: FileBucket | undefined;
  /** How many files a prompt for the model may have; absent: nothing is known. */
  promptFiles?: (model: string) => PromptFiles;
  /** Vertex AI reads the bucket itself; the Gemini API gets the bytes with the request. */
  modelReadsBucket: boolean;
}

/** Base64 of files that an instance keeps for the next call, bytes: those of one full request. */
const CACHE_BYTES = Math.ceil(FILES_MAX_BYTES / 3) * 4;
/** Files that are read or looked at side by side. */
const READS = 4;

type Cache = LRUCache<string, string>;

async function base64Of(
  files: FileBucket,
  cache: Cache,
  input: { upload: UploadedFile; signal: AbortSignal },
): Promise<string | undefined> {
  const { upload, signal } = input;
  const known = cache.get(upload.path);
  if (known !== undefined) return known;
  const bytes = await files.read(upload.path, { maxBytes: FILES_MAX_BYTES, signal });
  if (!bytes) return undefined;
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  cache.set(upload.path, base64);
  return base64;
}

/** The part that a model understands, or undefined for a file that is gone. */
async function partOf(
  { files, modelReadsBucket }: FileResolving & { files: FileBucket },
  cache: Cache,
  input: { upload: UploadedFile; signal: AbortSignal },
): Promise<Part | undefined> {
  const { path, mimeType } = input.upload;
  if (!modelReadsBucket) {
    const data = await base64Of(files, cache, input);
    return data === undefined ? undefined : { inlineData: { mimeType, data } };
  }
  // The model would refuse the whole request for a file that is not there.
  const found = await files.stat(path, input.signal);
  return found && { fileData: { mimeType, fileUri: files.uri(path) } };
}

async function resolve(
  resolving: FileResolving,
  cache: Cache,
  input: { contents: readonly Content[]; signal: AbortSignal },
): Promise<readonly Content[]> {
  const { contents, signal } = input;
  if (!namesUploads(contents)) return contents;
  const { files, modelReadsBucket } = resolving;
  if (!files) {
    const off = uploadsIn(contents).map(({ path }) => [path, { kind: 'off' }] as const);
    return resolvedContents(contents, new Map(off));
  }
  const shown = shownFiles(contents, modelReadsBucket ? Infinity : FILES_MAX_BYTES);
  const answers = await inParallel(shown, READS, async (upload) => {
    const part = await partOf({ ...resolving, files }, cache, { upload, signal });
    const answer: FileAnswer = part ? { kind: 'shown', part } : { kind: 'gone' };
    return [upload.path, answer] as const;
  });
  return resolvedContents(contents, new Map(answers));
}

type Model = ModelStreamer & ModelGenerator & TokenCounter;

/**
 * A model that gets the files which prompts only name: their bytes or, where it reads the bucket itself, their
 * `gs://` addresses. A line of text stands in the place of files that are gone, and of the oldest where there are more
 * than a request can carry or than a prompt may have of their kind. So no call fails for a file. Throws
 * FILES_UNAVAILABLE, and what `model` throws.
 */
export function withFiles(model: Model, resolving: FileResolving): Model {
  const cache: Cache = new LRUCache({
    maxSize: CACHE_BYTES,
    sizeCalculation: (base64) => Math.max(1, base64.length),
  });
  const contentsOf = ({ contents: all, model: name }: Prompt, signal: AbortSignal) => {
    const contents = withinLimits(all, resolving.promptFiles?.(name) ?? {});
    return resolve(resolving, cache, { contents, signal });
  };
  return {
    prepare: () => model.prepare?.(),
    stream: (request, signal) =>
      opened(async () => {
        const contents = await contentsOf(request, signal);
        return model.stream({ ...request, contents }, signal);
      }),
    generate: async (request, signal) =>
      model.generate({ ...request, contents: await contentsOf(request, signal) }, signal),
    countTokens: async (prompt, signal) =>
      model.countTokens({ ...prompt, contents: await contentsOf(prompt, signal) }, signal),
  };
}
