import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { withFiles } from '#functions/adapters/gemini/gemini-files.ts';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { modelRequestSchema, type RequestPart } from '#infra/fake-gemini/server/request.ts';
import { createUploadResponse } from '#shared/wire/resources/uploads.ts';
import { modelAt } from '../gemini-model-calls.ts';
import { startChatServer, type ChatServer } from './chat-server.ts';
import { startLocalBucket, type LocalBucket } from '../processes/local-bucket.ts';
import { createRecordedStore, type RecordedStore } from '../stores/recorded-store.ts';

/** A file as somebody attaches it. */
interface Attached {
  bytes: Uint8Array;
  mimeType: string;
  name?: string;
}

type CreatedUpload = z.infer<typeof createUploadResponse>;

/** Chat with the real client of Gemini before the fake Gemini, and the real bucket before its own. */
interface AttachingWorld extends RecordedStore {
  chat: ChatServer;
  local: LocalBucket;
  fakeGemini: FakeGemini;
  model: ReturnType<typeof withFiles>;
  begin(file: Attached, uid?: string): Promise<CreatedUpload>;
  /** Begins an upload and sends its bytes; its id. */
  upload(file: Attached, uid?: string): Promise<string>;
  send(message: Sent): Promise<Response>;
  /** All parts of the newest prompt that the model got, in order. */
  prompt(): readonly RequestPart[];
  stop(): Promise<void>;
}

interface Sent {
  conversationId: string;
  uploadIds: readonly string[];
  text?: string;
  id?: string;
  uid?: string;
  /** Behind the path of the messages, for an edit. */
  path?: string;
}

export const newUser = () => `user-${randomUUID()}`;

/** The beginning of a picture, and as many bytes as are wanted; `salt` makes it another one. */
export function png(sizeBytes = 64, salt = ''): Attached {
  const bytes = new Uint8Array(sizeBytes);
  bytes.set(Buffer.from(`\x89PNG\r\n\x1a\n${salt}`, 'latin1'));
  return { bytes, mimeType: 'image/png', name: 'receipt.png' };
}

export const textFile = (text: string, name = 'notes.txt'): Attached => ({
  bytes: new TextEncoder().encode(text),
  mimeType: 'text/plain',
  name,
});

export const base64Of = ({ bytes }: Attached) => Buffer.from(bytes).toString('base64');

/** All parts of the newest prompt, in order. */
function newestPrompt(fakeGemini: FakeGemini): RequestPart[] {
  const newest = fakeGemini.journal().findLast(({ operation }) => operation !== 'countTokens');
  if (!newest) throw new Error('no model was called');
  const { contents = [] } = modelRequestSchema.parse(fakeGemini.requestBody(newest.n));
  return contents.flatMap(({ parts = [] }) => parts);
}

export async function startAttaching(
  environment: Record<string, string> = {},
): Promise<AttachingWorld> {
  const [local, fakeGemini] = await Promise.all([startLocalBucket(), startFakeGemini()]);
  const recorded = createRecordedStore();
  const model = withFiles(modelAt(fakeGemini.url), {
    files: local.bucket,
    modelReadsBucket: false,
  });
  const overrides = { store: recorded.store, files: local.bucket, model };
  const chat = await startChatServer({ overrides, environment });

  const begin: AttachingWorld['begin'] = async ({ bytes, mimeType, name }, uid) => {
    const body = { mimeType, sizeBytes: bytes.length, ...(name !== undefined && { name }) };
    const response = await chat.call('/v1/uploads', { body, ...(uid !== undefined && { uid }) });
    return createUploadResponse.parse(await response.json());
  };
  return {
    ...recorded,
    chat,
    local,
    fakeGemini,
    model,
    begin,
    upload: async (file, uid) => {
      const created = await begin(file, uid);
      const status = await local.put(created, file.bytes);
      if (status !== 200) throw new Error(`the bucket answered ${status}`);
      return created.uploadId;
    },
    send: ({ conversationId, uploadIds, text = 'What is this?', id = randomUUID(), ...rest }) => {
      const files = uploadIds.map((uploadId) => ({ type: 'file', uploadId }));
      const message = { id, parts: [{ type: 'text', text }, ...files] };
      const path = `/v1/conversations/${conversationId}/messages${rest.path ?? ''}`;
      return chat.call(path, { body: { message }, ...(rest.uid && { uid: rest.uid }) });
    },
    prompt: () => newestPrompt(fakeGemini),
    stop: async () => {
      await Promise.all([chat.stop(), fakeGemini.close(), local.storage.close()]);
    },
  };
}
