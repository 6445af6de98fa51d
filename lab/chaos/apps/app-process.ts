import { randomUUID } from 'node:crypto';
import type { Chat, Message } from '#clients/typescript/src/api.ts';
import { createRecap } from '#clients/typescript/src/recap.ts';
import { fileStore } from '#clients/typescript/src/storage/file.ts';
import {
  type AppCommand,
  type AppReport,
  appCommandSchema,
  appSettingsSchema,
  type ShownMessage,
} from './app-messages.ts';

/** An app that uses the package `@recap/client`, as a process that is killed and started again. Argument: its settings. */
const settings = appSettingsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const tell = (report: AppReport): void => void process.send?.(report);

/** So long after an answer has failed the user asks for it again. */
const ASK_AGAIN_MS = 700;

/** What the service asks to wait is said in its time, which runs faster than ours. */
async function fetchInTime(...given: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...given);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (!Number.isFinite(seconds)) return response;
  const headers = new Headers(response.headers);
  headers.set('retry-after', String(seconds / settings.timeScale));
  return new Response(response.body, { status: response.status, headers });
}

/** Of the message that is sent next; what the package draws else is its own. */
let nextId: string | undefined;
function drawId(): string {
  const id = nextId ?? randomUUID();
  nextId = undefined;
  return id;
}

const recap = createRecap({
  baseUrl: settings.chatUrl,
  getIdToken: () => Promise.resolve(settings.token),
  storage: fileStore(settings.folder),
  randomUUID: drawId,
  fetch: fetchInTime,
  timings: {
    silenceMs: 4_000,
    callMs: 8_000,
    backOffMs: [100, 200, 400, 800, 1_500],
    watchMs: 500,
  },
});

const answerOf = (transcript: readonly Message[], seq: number | undefined): Message | undefined =>
  transcript.find((message) => message.role === 'model' && message.seq === seq);

const askedAgain = new Set<string>();
/** As a user does who sees that an answer failed. */
function askAgain(chat: Chat): void {
  for (const { id, state, error } of chat.state.transcript) {
    if (state !== 'failed' || error?.isRetryable !== true || askedAgain.has(id)) continue;
    askedAgain.add(id);
    setTimeout(() => void chat.retry(id).finally(() => askedAgain.delete(id)), ASK_AGAIN_MS);
  }
}

const chats = new Map(settings.conversationIds.map((id) => [id, recap.chat(id)]));
for (const chat of chats.values()) chat.subscribe(() => askAgain(chat));
recap.conversations.subscribe(() => undefined);

function shownMessages(chat: Chat): ShownMessage[] {
  const { transcript } = chat.state;
  return transcript.flatMap(({ id, role, state, seq, error }) => {
    if (role !== 'user') return [];
    const answer = seq === undefined ? undefined : answerOf(transcript, seq);
    const reason = (error ?? answer?.error)?.reason;
    return [
      {
        conversationId: chat.id,
        messageId: id,
        state,
        ...(seq !== undefined && { seq }),
        ...(answer && { answer: { state: answer.state, text: answer.text } }),
        ...(reason !== undefined && { reason }),
      },
    ];
  });
}

async function show(): Promise<void> {
  for (const chat of chats.values()) {
    await chat.refresh().catch(() => undefined);
    while (await chat.loadOlder(100).catch(() => false));
  }
  tell({ kind: 'shown', messages: [...chats.values()].flatMap(shownMessages) });
}

async function obey(command: AppCommand): Promise<void> {
  switch (command.kind) {
    case 'send': {
      const { conversationId, messageId, text, onBusy } = command;
      nextId = messageId;
      await chats.get(conversationId)?.send(text, { onBusy });
      tell({ kind: 'kept', messageId });
      return;
    }
    case 'stop':
      await chats.get(command.conversationId)?.stop();
      return;
    case 'setActive':
      recap.setActive(command.isActive);
      return;
    case 'show':
      await show();
  }
}

process.on(
  'message',
  (message) => void obey(appCommandSchema.parse(message)).catch(() => undefined),
);
tell({ kind: 'ready' });
