import type { FileInput, InputPart, MessageError, RecapStore } from '../api.ts';
import type { EventStream, Requester } from '../http/requester.ts';
import { RecapError, offline } from '../http/error.ts';
import { base64ToBlob, blobToBase64 } from '../lib/base64.ts';
import type { Life } from '../lib/life.ts';
import { type Saver, readKept } from '../lib/saver.ts';

/** A file that goes with a message. Its bytes stand under a key of their own, or in a file of the device. */
export interface KeptFile {
  mediaType: string;
  name?: string;
  uri?: string;
  key?: string;
  /** It has arrived. */
  uploadId?: string;
}

/** What the user did, and what is sent for it. */
export interface Entry {
  /** Of the message. */
  id: string;
  conversationId: string;
  /** Later ones have a greater one. */
  order: number;
  /** Path below the conversation. */
  path: string;
  /** The body, but for the parts of uploads. */
  body: Readonly<Record<string, unknown>> & {
    message?: { id: string; parts: readonly InputPart[] };
  };
  /** What is shown; of a regeneration the message that is answered anew. */
  parts: readonly InputPart[];
  files: readonly KeptFile[];
  /** First of the turns that it takes the place of. */
  replaces?: number;
  /** ISO 8601. */
  time: string;
  /** `taken`: the service has it, and its answer has not ended well yet. */
  state: 'pending' | 'taken' | 'failed';
  seq?: number;
  error?: MessageError;
  /** The answer is to be stopped as soon as its turn is known. */
  isToStop?: true;
}

const PREFIX = 'outbox/';

/** Taken ones that are kept, so that they can be sent again. */
const TAKEN_MAX = 100;

/** Two windows of a browser share a store: the same order may be there twice. */
const keyOf = ({ conversationId, order, id }: Entry): string =>
  `${PREFIX}${conversationId}/${String(order).padStart(12, '0')}/${id}`;

const bodyOf = ({ body, files }: Entry): string => {
  const { message } = body;
  if (!message) return JSON.stringify(body);
  const uploads = files.map(({ uploadId }) => ({ type: 'file', uploadId }));
  return JSON.stringify({
    ...body,
    message: { ...message, parts: [...message.parts, ...uploads] },
  });
};

export const toMessageError = (error: RecapError): MessageError => ({
  reason: error.reason,
  message: error.message,
  isRetryable: error.code === 429 || error.reason === 'TURN_IN_PROGRESS',
  resetTime: error.resetTime,
});

export type NewEntry = Omit<Entry, 'order' | 'state' | 'files'>;

/** What the service says of an upload that begins. */
interface UploadBegun {
  uploadId: string;
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
}

/** Above every order of what is kept. */
const UNKEPT_ORDER = 1e12;

function describeFile(file: FileInput): KeptFile {
  const { type: mediaType } = file;
  const name = 'name' in file ? file.name : undefined;
  return { mediaType, name, uri: 'uri' in file ? file.uri : undefined };
}

interface OutboxParts {
  store: RecapStore;
  saver: Saver;
  requester: Requester;
  life: Life;
  /** The entries of a conversation are others now. */
  onChange: (conversationId: string) => void;
  /** The service has it; whoever does not read the stream closes it. */
  onTaken: (entry: Entry, stream: EventStream) => void;
}

/** What the user did and the service does not have yet, kept so that it is sent once, in order, whatever happens. */
export function createOutbox({ store, saver, requester, life, onChange, onTaken }: OutboxParts) {
  const entries = new Map<string, Entry>();
  /** Shown, but not in the store yet: they are not sent. */
  const unkept = new Set<string>();
  /** Bytes of files that were added since the start; those of before are in the store. */
  const blobs = new Map<string, Blob>();
  /** Share that was sent of each file that is on its way, by message and index. */
  const progress = new Map<string, number>();
  /** Those since the start. */
  const added = new Set<string>();
  let otherUser: RecapError | undefined;
  /** Of these the files were uploaded a second time. */
  const uploadedAnew = new Set<string>();
  const draining = new Set<string>();
  let lastOrder = 0;

  const of = (conversationId: string): Entry[] =>
    [...entries.values()]
      .filter((entry) => entry.conversationId === conversationId)
      .filter(({ id }) => !otherUser || added.has(id))
      .sort((one, other) => one.order - other.order);

  /** Shows an entry as it is now, and writes it. */
  function put(entry: Entry): Promise<void> {
    entries.set(entry.id, entry);
    onChange(entry.conversationId);
    // It has no place yet: it is written with it.
    if (unkept.has(entry.id)) return Promise.resolve();
    return saver.save(keyOf(entry), () => entry);
  }

  async function dropFiles({ files }: Entry): Promise<void> {
    for (const { key } of files) {
      if (key === undefined) continue;
      blobs.delete(key);
      await saver.forget(key);
    }
  }

  async function drop(entry: Entry): Promise<void> {
    entries.delete(entry.id);
    onChange(entry.conversationId);
    await saver.forget(keyOf(entry));
    await dropFiles(entry);
  }

  async function readFile({ uri, key = '', mediaType, name }: KeptFile): Promise<Blob> {
    try {
      if (uri !== undefined) return await (await fetch(uri)).blob();
      const blob = blobs.get(key);
      if (blob) return blob;
      const base64 = await readKept<string>(store, key);
      if (base64 !== undefined) return base64ToBlob(base64, mediaType);
    } catch {
      // It is told below.
    }
    const message = `${name ?? 'The file'} is not on this device any more. Send it again.`;
    throw new RecapError({ code: 400, reason: 'FILE_LOST', message });
  }

  async function upload(entry: Entry, index: number): Promise<Entry> {
    const file = entry.files[index];
    if (!file || file.uploadId !== undefined) return entry;
    const blob = await readFile(file);
    const about = { mimeType: file.mediaType, sizeBytes: blob.size, name: file.name };
    const begun = await requester.call<UploadBegun>('POST', '/v1/uploads', { body: about });
    const place = `${entry.id}/${index}`;
    const show = (share: number): void => {
      progress.set(place, share);
      onChange(entry.conversationId);
    };
    show(0);
    await requester.put(blob, begun, show).finally(() => progress.delete(place));
    const { uploadId } = begun;
    const files = entry.files.map((each, at) => (at === index ? { ...each, uploadId } : each));
    // It may have been told meanwhile that its answer is to be stopped.
    const uploaded = { ...(entries.get(entry.id) ?? entry), files };
    if (entries.has(entry.id)) await put(uploaded);
    return uploaded;
  }

  /** One try: the stream of the turn that has the message. */
  async function send(entry: Entry): Promise<{ stream: EventStream; seq: number }> {
    let sent = entry;
    for (const index of entry.files.keys()) sent = await upload(sent, index);
    const path = `/v1/conversations/${entry.conversationId}${entry.path}`;
    const stream = await requester.stream('POST', path, { bodyText: bodyOf(sent) });
    if (stream.seq !== undefined) return { stream, seq: stream.seq };
    stream.close();
    throw offline(new Error('a reply without x-turn-id'));
  }

  async function take(id: string, { stream, seq }: { stream: EventStream; seq: number }) {
    const entry = entries.get(id);
    // It was discarded while it was on its way.
    if (!entry) return stream.close();
    const taken: Entry = { ...entry, state: 'taken', seq, error: undefined };
    const kept = put(taken);
    onTaken(taken, stream);
    await kept;
    await dropFiles(taken);
    const others = [...entries.values()].filter(({ state }) => state === 'taken');
    for (const old of others.slice(0, -TAKEN_MAX)) await drop(old);
  }

  /** What a refusal changes. Throws it where the same is to be tried again after a pause. */
  async function refuse(id: string, error: RecapError): Promise<void> {
    const entry = entries.get(id);
    // It was discarded, or is another user's, since it was sent.
    if (entry?.state !== 'pending') return;
    if (error.reason === 'UPLOAD_NOT_FOUND' && !uploadedAnew.has(id)) {
      uploadedAnew.add(id);
      await put({ ...entry, files: entry.files.map(({ uploadId: _uploadId, ...file }) => file) });
      return;
    }
    if (error.isPassing) {
      // Not written: why a try did not get through is of this moment.
      entries.set(id, { ...entry, error: { ...toMessageError(error), isRetryable: true } });
      onChange(entry.conversationId);
      throw error;
    }
    const isQueueFull = error.reason === 'TURN_IN_PROGRESS' && entry.body['onBusy'] === 'queue';
    const { reason, message, retryAfterMs } = error;
    // The queue of the service is full: there will be room.
    if (isQueueFull) throw new RecapError({ code: 503, reason, message, retryAfterMs });
    await put({ ...entry, state: 'failed', error: toMessageError(error) });
  }

  const sendUntilKnown = (id: string): Promise<void> =>
    life.untilDone(async () => {
      const entry = entries.get(id);
      if (entry?.state !== 'pending') return;
      try {
        await take(id, await send(entry));
      } catch (error) {
        await refuse(id, offline(error));
      }
    });

  /** Sends what waits in a conversation, one after the other. */
  async function drain(conversationId: string): Promise<void> {
    if (draining.has(conversationId)) return;
    draining.add(conversationId);
    const next = () =>
      of(conversationId).find(({ id, state }) => state === 'pending' && !unkept.has(id));
    for (let entry = next(); entry && !life.closed.aborted; entry = next())
      await sendUntilKnown(entry.id);
    draining.delete(conversationId);
  }

  async function load(): Promise<void> {
    for (const key of await store.keys(PREFIX)) {
      const entry = await readKept<Entry>(store, key);
      if (!entry) continue;
      lastOrder = Math.max(lastOrder, entry.order);
      entries.set(entry.id, entry);
    }
    for (const conversationId of new Set(
      [...entries.values()].map((each) => each.conversationId),
    )) {
      onChange(conversationId);
      void drain(conversationId);
    }
  }
  // A store that cannot be read is no reason to send nothing.
  const loaded = load().catch(() => undefined);

  async function keepFile(id: string, index: number, file: FileInput): Promise<KeptFile> {
    const about = describeFile(file);
    if ('uri' in file) return about;
    const key = `file/${id}/${index}`;
    blobs.set(key, file);
    await saver.save(key, () => blobToBase64(file));
    return { ...about, key };
  }

  let lastAdded: Promise<unknown> = loaded;

  /** Keeps what is shown already; only then it is sent. */
  async function keep(shown: Entry, files: readonly FileInput[]): Promise<void> {
    const kept = await Promise.all(files.map((file, index) => keepFile(shown.id, index, file)));
    const entry = entries.get(shown.id);
    unkept.delete(shown.id);
    if (!entry) return dropFiles({ ...shown, files: kept });
    if (otherUser) return disown(entry, otherUser);
    lastOrder += 1;
    await put({ ...entry, order: lastOrder, files: kept });
    void drain(shown.conversationId);
  }

  /** What somebody typed over the store of another user is not sent as that user. */
  async function disown(entry: Entry, error: RecapError): Promise<void> {
    entries.set(entry.id, { ...entry, state: 'failed', error: toMessageError(error) });
    onChange(entry.conversationId);
    await saver.forget(keyOf(entry));
    await dropFiles(entry);
  }

  return {
    /** What was kept before is known. */
    loaded,
    of,
    find: (id: string): Entry | undefined => entries.get(id),
    /** What waits, by conversation. */
    waiting: (): ReadonlyMap<string, readonly Entry[]> => {
      const ids = [...entries.values()].flatMap(({ state, conversationId }) =>
        state === 'pending' ? [conversationId] : [],
      );
      return new Map(ids.map((id) => [id, of(id).filter(({ state }) => state === 'pending')]));
    },
    progressOf: (id: string, index: number): number | undefined => progress.get(`${id}/${index}`),

    /** Shows it at once, keeps it, and sends it when its turn has come. Never rejects. */
    add: (given: NewEntry, files: readonly FileInput[]): Promise<void> => {
      added.add(given.id);
      // Behind all that is kept, until it has its place.
      const order = UNKEPT_ORDER + unkept.size;
      const shown: Entry = { ...given, order, state: 'pending', files: files.map(describeFile) };
      unkept.add(given.id);
      entries.set(given.id, shown);
      onChange(given.conversationId);
      const kept = lastAdded.then(() => keep(shown, files));
      lastAdded = kept;
      return kept;
    },

    /** Sends a message again that was refused, or whose answer failed; resolves to whether it is known here. */
    retry: async (id: string): Promise<boolean> => {
      const entry = entries.get(id);
      if (!entry) return false;
      if (entry.state === 'pending' || otherUser) return true;
      const { error: _, isToStop: __, ...again } = entry;
      uploadedAnew.delete(id);
      await put({ ...again, state: 'pending' });
      void drain(entry.conversationId);
      return true;
    },

    markToStop: async (id: string): Promise<void> => {
      const entry = entries.get(id);
      if (entry) await put({ ...entry, isToStop: true });
    },

    drop: async (id: string): Promise<void> => {
      const entry = entries.get(id);
      if (entry) await drop(entry);
    },

    /** The store is not that of the user who is signed in. */
    onOtherUser: (error: RecapError): void => {
      otherUser = error;
      for (const entry of entries.values())
        if (added.has(entry.id) && !unkept.has(entry.id)) void disown(entry, error);
    },

    /** Takes over what another store has not sent. */
    takeOver: async (from: RecapStore): Promise<void> => {
      await loaded;
      for (const key of await from.keys(PREFIX)) {
        const found = await readKept<Entry>(from, key);
        const fileKeys = found?.files.flatMap((file) => file.key ?? []) ?? [];
        if (found && found.state !== 'taken' && !entries.has(found.id)) {
          for (const fileKey of fileKeys) {
            const base64 = await from.get(fileKey);
            if (base64 !== undefined) await store.set(fileKey, base64);
          }
          lastOrder += 1;
          await put({ ...found, order: lastOrder });
          void drain(found.conversationId);
        }
        for (const taken of [key, ...fileKeys]) await from.delete(taken);
      }
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
