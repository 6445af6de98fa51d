import type { DocumentFields, StoredDocument } from '#shared/ports/ports.ts';
import { turnId } from '../conversation/documents/paths.ts';
import { z } from 'zod';

const uploadSchema = z.object({
  schemaVersion: z.literal(1),
  mimeType: z.string(),
  sizeBytes: z.number(),
  name: z.string().optional(),
  createTime: z.date(),
  /** Until a message names it: then the store deletes the document. */
  expireTime: z.date().optional(),
  /** The turns that name it, by `turnKey`. */
  turns: z.record(z.string(), z.literal(true)),
  /** Where its bytes stand in the bucket; absent: under the path of the document. Of one that came from another account. */
  path: z.string().optional(),
});

/** `users/{uid}/uploads/{uploadId}`: a file of a user. */
export interface Upload extends z.infer<typeof uploadSchema> {
  id: string;
}

/** An upload as it was read. */
export interface StoredUpload extends Upload {
  /** Where its bytes stand in the bucket. */
  filePath: string;
}

/** How an upload notes a turn that names it. */
export const turnKey = (conversationId: string, seq: number) => `${conversationId}_${turnId(seq)}`;

/** Whether a note of `turnKey` is of that conversation. */
export const isTurnKey = (key: string, conversationId: string) =>
  key.startsWith(`${conversationId}_`);

/** Where the file of a stored upload stands in the bucket. */
export function uploadFilePath({ path, fields }: Pick<StoredDocument, 'path' | 'fields'>): string {
  const { data } = uploadSchema.shape.path.safeParse(fields['path']);
  return data ?? path;
}

/** The turn that a note of `turnKey` is of. */
export function turnOfKey(key: string): { conversationId: string; seq: number } | undefined {
  const [, conversationId, seq] = /^(.+)_t_(\d+)$/su.exec(key) ?? [];
  return conversationId === undefined ? undefined : { conversationId, seq: Number(seq) };
}

/** Reads an upload; one that cannot be read is none. */
export function decodeUpload(document: StoredDocument): StoredUpload | undefined {
  const { path, fields } = document;
  const { data } = uploadSchema.safeParse(fields);
  const id = path.slice(path.lastIndexOf('/') + 1);
  return data && { ...data, id, filePath: uploadFilePath(document) };
}

export function encodeUpload(upload: Upload): DocumentFields {
  const { id: _, ...fields } = upload;
  return fields;
}
