import type { Chat, ClientContext, InputPart, Message, SendOptions } from '../api.ts';
import { RecapError } from '../http/error.ts';
import type { Inbox } from '../inbox.ts';
import { randomUuid } from '../lib/uuid.ts';
import type { Entry } from './outbox.ts';
import { type ChatParts, type Reading, createReading } from './reading.ts';

const asParts = (parts: string | readonly InputPart[]): readonly InputPart[] =>
  typeof parts === 'string' ? (parts === '' ? [] : [{ type: 'text', text: parts }]) : parts;

/** Parts of a message that is shown, to be sent again. */
const partsOf = ({ parts }: Message): InputPart[] =>
  parts.flatMap((part): InputPart[] => {
    if (part.type === 'text') return [part];
    if (part.type !== 'file') return [];
    const { uploadId, mediaType = '', data, url } = part;
    if (uploadId !== undefined) return [{ type: 'file', uploadId }];
    if (data !== undefined) return [{ type: 'file', mediaType, data }];
    return url === undefined ? [] : [{ type: 'file', mediaType, url }];
  });

/** A conversation, and what the client has to tell it. */
export type OwnChat = Chat &
  Pick<Reading, 'changed' | 'hear' | 'gone' | 'hide' | 'isOpen'> & {
    taken: (...given: Parameters<Reading['taken']>) => void;
  };

/** One conversation: what is shown of it, and what the user does in it. */
export function createChat(parts: ChatParts): OwnChat {
  const { id, requester, life, outbox, inbox, options } = parts;
  const reading = createReading(parts);
  const { call } = reading;
  const draw = options.randomUUID ?? randomUuid;
  const time = (): string => new Date(requester.nowMs()).toISOString();

  const contextOf = (given: ClientContext | undefined): ClientContext => {
    const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
    return { timeZone, locale, ...options.clientContext?.(), ...given };
  };

  function findMessage(messageId: string): Message {
    const found = reading.state.transcript.find((message) => message.id === messageId);
    if (found) return found;
    const message = `This chat shows no message ${messageId}.`;
    throw new RecapError({ code: 404, reason: 'MESSAGE_NOT_FOUND', message });
  }

  async function add(
    given: Omit<Parameters<typeof outbox.add>[0], 'conversationId' | 'time'>,
    files: SendOptions['files'] = [],
  ): Promise<string> {
    void reading.loadNewest().catch(() => undefined);
    await outbox.add({ conversationId: id, time: time(), ...given }, files);
    return given.id;
  }

  function addMessage(
    about: Pick<Entry, 'path' | 'replaces'>,
    given: string | readonly InputPart[],
    { files, retention, context, ...more }: SendOptions,
  ): Promise<string> {
    const messageId = draw();
    const shown = asParts(given);
    const message = { id: messageId, parts: shown, retention };
    const body = { message, ...more, clientContext: contextOf(context) };
    return add({ id: messageId, ...about, body, parts: shown }, files);
  }

  const send: Chat['send'] = (given, sendOptions) =>
    addMessage({ path: '/messages' }, given, { onBusy: 'queue', ...sendOptions });

  const edit: Chat['edit'] = async (replacedId, given, sendOptions) => {
    const replaced = findMessage(replacedId);
    if (replaced.seq === undefined) {
      // The service does not have it: the new one is sent in its place.
      await outbox.drop(replacedId);
      return send(given, sendOptions);
    }
    const about = { path: `/messages/${replacedId}:edit`, replaces: replaced.seq };
    return addMessage(about, given, { onBusy: 'interrupt', ...sendOptions });
  };

  const cancel = (seq: number): Promise<void> =>
    life
      .untilDone(() => call('POST', `/turns/t_${seq}:cancel`))
      .catch((error: unknown) => {
        // It has ended meanwhile.
        if (!(error instanceof RecapError && error.reason === 'TURN_FINISHED')) throw error;
      });

  /** Changes it in the list, too. */
  const change = (fields: Parameters<Inbox['change']>[1]): Promise<void> =>
    inbox.change(id, fields, () =>
      call('PATCH', '', { query: { updateMask: Object.keys(fields).join() }, body: fields }),
    );

  return {
    id,
    get state() {
      return reading.state;
    },
    get messages() {
      return reading.state.messages;
    },
    subscribe: reading.subscribe,
    send,
    edit,
    regenerate: async ({ context } = {}) => {
      const asked = reading.state.messages.filter(({ role, seq }) => role === 'user' && seq);
      const last = asked.at(-1);
      if (!last) {
        const message = 'There is no message that could be answered anew.';
        throw new RecapError({ code: 400, reason: 'NOT_THE_LAST_ANSWER', message });
      }
      const newId = draw();
      const body = { id: newId, onBusy: 'interrupt', clientContext: contextOf(context) };
      const path = `/messages/${last.id}:regenerate`;
      const shown = partsOf(last);
      const replaces = last.seq;
      return add({ id: newId, path, body, parts: shown, replaces });
    },
    retry: async (messageId) => {
      const { transcript } = reading.state;
      const at = transcript.indexOf(findMessage(messageId));
      const asked = transcript[at]?.role === 'model' ? transcript[at - 1] : transcript[at];
      const answer = transcript.find(({ role, seq }) => role === 'model' && seq === asked?.seq);
      // It may have been answered meanwhile.
      if (!asked || (asked.state !== 'failed' && answer?.state !== 'failed')) return;
      if (asked.seq !== undefined) reading.forgetAnswer(asked.seq);
      // Of a message that this device did not send, the words are sent again in its place.
      if (!(await outbox.retry(asked.id))) await edit(asked.id, partsOf(asked));
    },
    discard: outbox.drop,
    stop: async () => {
      const row = inbox.row(id);
      const seq = reading.unfinishedSeq() ?? (row?.state === 'running' ? row.lastSeq : undefined);
      if (seq !== undefined) return cancel(seq);
      const pending = outbox.of(id).find(({ state }) => state === 'pending');
      if (pending) await outbox.markToStop(pending.id);
    },
    loadOlder: reading.loadOlder,
    loadNewer: reading.loadNewer,
    loadAround: reading.loadAround,
    loadNewest: reading.loadNewest,
    markRead: (seq = Math.max(0, ...reading.state.messages.map((each) => each.seq ?? 0))) =>
      inbox.markRead(id, seq),
    approve: (callId, approved) =>
      reading.giveResults(Number(callId.split('_')[1]), [{ callId, approved }]),
    refresh: reading.refresh,
    rename: async (title) => {
      await change({ title });
      reading.setTitle(title);
    },
    archive: (archived = true) => change({ archived }),
    pin: (pinned = true) => change({ pinned }),
    remove: () => inbox.change(id, { deleteTime: time() }, () => call('DELETE', '')),
    undelete: () => inbox.change(id, { deleteTime: undefined }, () => call('POST', ':undelete')),
    deleteMessage: async (messageId) => {
      const found = reading.state.transcript.find((message) => message.id === messageId);
      await call('DELETE', `/messages/${messageId}`);
      if (found?.seq !== undefined) await reading.readAgain(found.seq);
    },
    rate: async (messageId, rating, comment) => {
      await call('PUT', `/messages/${messageId}/feedback`, { body: { rating, comment } });
      await reading.readAgain(Number(messageId.slice('m_'.length)));
    },
    compact: async () => {
      await call('POST', ':compact', { body: {} });
      await reading.watchCompaction();
    },
    call,
    changed: reading.changed,
    taken: (entry, stream) => {
      if (entry.isToStop) void cancel(entry.seq ?? 0).catch(() => undefined);
      reading.taken(entry, stream);
    },
    hear: reading.hear,
    gone: reading.gone,
    hide: reading.hide,
    isOpen: reading.isOpen,
  };
}
