import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { terminalText } from '#infra/terminal-text.ts';
import {
  ArgumentError,
  runCommand,
  checkWritable,
  readCommandLine,
  readInteger,
} from '#infra/command-line.ts';
import { ChatClient } from '#lab/chat-client/client.ts';
import { readRecordings, type Recording, exchangesOf } from './recording.ts';
import {
  replayConversation,
  type ReplayedConversation,
  type ScriptedConversation,
} from './replay-conversation.ts';
import { isComplete, replayFigures, summaryText, conversationText } from './replay-figures.ts';

const help = `Usage: npm run replay -- FILE.jsonl [options]

Sends recorded conversations through the chat endpoint, message by message as a phone would, waits for
the compactions they cause, and checks that every message sent and every answer received stands in the
transcript, once, unaltered and in order. Only texts are replayed, neighbours of one role as one message.
The fake Gemini of an own stack says what the recording says; any other model answers by itself.

A line of FILE is a conversation, its "turns" are contents as the Gemini API has them:
  {"id":"a","turns":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}

  --conversation ID       only the recording with this id
  --limit N               at most N user messages of each conversation
  --threshold-tokens N    compact when the context reaches N tokens
  --window N              pretend that the model's context window is N tokens
  --url URL               use a running service instead of starting a local stack
  --token TOKEN           ID token for --url (default: an unsigned one, good for the local stack)
  --embedded              local stack without emulators, even where they are installed
  --json OUT              write the figures to this file
  --help                  this text

Exit code: 0 all there; 1 something is missing, altered, out of order or failed; 2 wrong arguments.`;

const options = {
  conversation: { type: 'string' },
  limit: { type: 'string' },
  'threshold-tokens': { type: 'string' },
  window: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  embedded: { type: 'boolean', default: false },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

const write = (text: string): void => void process.stdout.write(terminalText(`${text}\n`));

/** Where a replay goes. */
interface ReplayTarget {
  url: string;
  /** Fake Gemini that can be told what to answer. */
  fakeGeminiUrl?: string | undefined;
  stop(): Promise<void>;
}

/** The highest that the configuration takes. */
const highestLimits = {
  MAX_PART_BYTES: '900000',
  MAX_MESSAGE_BYTES: '2000000',
  MAX_BODY_BYTES: '3000000',
};

async function startOwnStack(isEmbedded: boolean, hasThreshold: boolean): Promise<ReplayTarget> {
  const stack = await startStack({
    embedded: isEmbedded,
    environment: {
      ...highestLimits,
      // A conversation may not ask for a higher threshold than its deployment has; 1 is none.
      ...(hasThreshold && { THRESHOLD_FRACTION: '1' }),
    },
    // A refused push comes again soon: nobody waits for minutes at the end of a replay.
    push: { minBackoffSeconds: 1, maxBackoffSeconds: 10, maxDeliveryAttempts: 100 },
    log: (event) => {
      if (event.kind === 'crashed')
        process.stderr.write(`${event.part} crashed: ${event.lastLines.join('\n')}\n`);
    },
  });
  write(`own local stack: ${stack.backend}; ${stack.model()}`);
  return { url: stack.chatUrl, fakeGeminiUrl: stack.fakeGeminiUrl, stop: () => stack.stop() };
}

function chooseRecordings(recordings: readonly Recording[], wanted?: string): Recording[] {
  const chosen = recordings.filter(({ id }) => wanted === undefined || id === wanted);
  if (chosen.length > 0) return chosen;
  const known = recordings.map(({ id }) => id).join(', ');
  throw new ArgumentError(`--conversation ${wanted} is not in the file; it has ${known}`);
}

/**
 * Tells the fake Gemini to say what the recording says: each answer by the text of the user message, and
 * by how often that text has been sent before, in the order in which the replay sends. Throws an Error when it refuses.
 */
async function registerAnswers(
  fakeGeminiUrl: string,
  conversations: readonly ScriptedConversation[],
): Promise<void> {
  const timesSent = new Map<string, number>();
  const answers = conversations.flatMap(({ recordingId, exchanges }) =>
    exchanges.flatMap(({ user, model }) => {
      const userHash = createHash('sha256').update(user).digest('hex');
      const ordinal = (timesSent.get(userHash) ?? 0) + 1;
      timesSent.set(userHash, ordinal);
      if (model === '') return [];
      const contents = [{ role: 'model', parts: [{ text: model }] }];
      return [{ conversation: recordingId, userHash, ordinal, contents }];
    }),
  );
  const response = await fetch(`${fakeGeminiUrl}/control/answers`, {
    method: 'POST',
    body: JSON.stringify({ answers }),
  });
  if (!response.ok)
    throw new Error(`the fake Gemini refused the recorded answers: ${await response.text()}`);
}

/** Longest wait for one reply, streams included. */
const REPLY_TIMEOUT_MS = 300_000;

process.exitCode = await runCommand(help, async (argv) => {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined)
    throw new ArgumentError('name one FILE.jsonl: which recording is to be used?');
  if (values.url !== undefined && !URL.canParse(values.url))
    throw new ArgumentError(`--url takes a URL, not ${JSON.stringify(values.url)}`);
  await checkWritable('--json', values.json);
  const limit = readInteger('--limit', values.limit);
  const settings = {
    thresholdTokens: readInteger('--threshold-tokens', values['threshold-tokens']),
    windowTokens: readInteger('--window', values.window),
  };
  const recordings = chooseRecordings(
    await readRecordings('FILE.jsonl', file),
    values.conversation,
  );
  const conversations = recordings.map((recording) => ({
    recordingId: recording.id,
    systemInstruction: recording.system,
    exchanges: exchangesOf(recording).slice(0, limit),
  }));
  const target =
    values.url === undefined
      ? await startOwnStack(values.embedded, settings.thresholdTokens !== undefined)
      : { url: values.url.replace(/\/+$/, ''), stop: () => Promise.resolve() };
  try {
    if (target.fakeGeminiUrl !== undefined)
      await registerAnswers(target.fakeGeminiUrl, conversations);
    const user = { uid: 'replay', projectId: localProjectId, now: new Date() };
    const token = values.token ?? unsignedToken(user);
    const client = new ChatClient({ url: target.url, token, timeoutMs: REPLY_TIMEOUT_MS });
    const replayed: ReplayedConversation[] = [];
    for (const conversation of conversations) {
      const each = await replayConversation(client, settings, conversation);
      write(conversationText(each));
      replayed.push(each);
    }
    const figures = replayFigures(replayed);
    write(summaryText(figures));
    if (values.json !== undefined)
      await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
    return isComplete(figures) ? 0 : 1;
  } finally {
    await target.stop();
  }
});
