import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { type Stack, startStack } from '#infra/local/stack/start-stack.ts';
import { chooseModel, localProjectId } from '#infra/local/stack/stack-environment.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { ArgumentError, runCommand } from '#infra/command-line.ts';
import { ChatClient } from '#lab/chat-client/client.ts';
import { readRecordings, type Recording, scriptOf } from './recording.ts';
import { parseReplayArguments, type ReplayArguments, replayHelp } from './replay-arguments.ts';
import {
  replayConversation,
  stableUuid,
  type CompactionView,
  type ReplayedConversation,
  type ScriptedConversation,
} from './replay-conversation.ts';
import {
  compactionText,
  isComplete,
  problemLines,
  replayFigures,
  scriptText,
  summaryText,
} from './replay-figures.ts';

const write = (text: string): void => void process.stdout.write(terminalText(text));

/** Where a replay goes, and how long its texts may be there. */
interface ReplayTarget {
  url: string;
  fakeGeminiUrl: string | undefined;
  token: string;
  maxPartBytes: number;
  notes: string[];
  stop(): Promise<void>;
}

/** Default of MAX_PART_BYTES, which a service that was not started here is taken to have. */
const DEFAULT_MAX_PART_BYTES = 32 * 1024;
/** The highest that the configuration takes. */
const raised = { maxPartBytes: 900_000, maxMessageBytes: 2_000_000, maxBodyBytes: 3_000_000 };

const localToken = (): string =>
  unsignedToken({ uid: 'replay', projectId: localProjectId, now: new Date() });

async function startOwnStack(wanted: ReplayArguments, notes: string[]): Promise<Stack> {
  const { thresholdTokens, thresholdFraction } = wanted.settings;
  const hasThreshold = thresholdTokens !== undefined || thresholdFraction !== undefined;
  return startStack({
    embedded: wanted.isEmbedded,
    environment: {
      // A conversation may not ask for a higher threshold than its deployment has; 1 is none.
      ...(hasThreshold && { THRESHOLD_FRACTION: '1' }),
      MAX_PART_BYTES: String(raised.maxPartBytes),
      MAX_MESSAGE_BYTES: String(raised.maxMessageBytes),
      MAX_BODY_BYTES: String(raised.maxBodyBytes),
    },
    // A refused push comes again soon: nobody waits for minutes at the end of a replay.
    push: { minBackoffSeconds: 1, maxBackoffSeconds: 10, maxDeliveryAttempts: 100 },
    log: (event) => {
      if (event.kind === 'crashed')
        process.stderr.write(`${event.part} crashed: ${event.lastLines.join('\n')}\n`);
      if (event.kind === 'ready') notes.push(`${event.part} ready in ${event.tookMs} ms`);
    },
  });
}

/** The service named by `--url`, or a local stack of the replay's own. */
async function openTarget(wanted: ReplayArguments): Promise<ReplayTarget> {
  if (wanted.url !== undefined)
    return {
      url: wanted.url,
      fakeGeminiUrl: wanted.fakeGeminiUrl,
      token: wanted.token ?? localToken(),
      maxPartBytes: DEFAULT_MAX_PART_BYTES,
      notes: [`service ${wanted.url}`],
      stop: () => Promise.resolve(),
    };
  const starts: string[] = [];
  const stack = await startOwnStack(wanted, starts);
  if (wanted.answers === 'recorded' && stack.fakeGeminiUrl === undefined) {
    await stack.stop();
    throw new Error('--answers recorded needs the stand-in: unset GEMINI_API_KEY');
  }
  return {
    url: stack.chatUrl,
    fakeGeminiUrl: stack.fakeGeminiUrl,
    token: localToken(),
    maxPartBytes: raised.maxPartBytes,
    notes: [
      `own local stack: ${stack.backend}; ${stack.model()} (${starts.join(', ')})`,
      `limits raised for this stack: ${raised.maxPartBytes} bytes a part, ${raised.maxMessageBytes} a message, ${raised.maxBodyBytes} a body`,
    ],
    stop: () => stack.stop(),
  };
}

function chooseRecordings(recordings: readonly Recording[], wanted?: string): Recording[] {
  if (wanted === undefined) return [...recordings];
  const chosen = recordings.filter(({ id }) => id === wanted);
  if (chosen.length > 0) return chosen;
  const known = recordings.map(({ id }) => id).join(', ');
  throw new ArgumentError(`--conversation ${wanted} is not in the file; it has ${known}`);
}

function scriptedConversation(
  recording: Recording,
  wanted: ReplayArguments,
  maxPartBytes: number,
): ScriptedConversation {
  const script = scriptOf(recording, { maxPartBytes });
  const settings = JSON.stringify(wanted.settings);
  return {
    recordingId: recording.id,
    // Other settings are another conversation, or a second run would replay the first.
    conversationId: stableUuid(`${wanted.seed}/${recording.id}/${settings}`),
    systemInstruction: recording.system,
    script: { ...script, exchanges: script.exchanges.slice(0, wanted.limit) },
  };
}

/**
 * What the fake Gemini needs to say what the recording says: each answer by the text of the user message, and
 * by how often that text has been sent before, in the order in which the replay sends.
 */
function recordedAnswers(conversations: readonly ScriptedConversation[]) {
  const timesSent = new Map<string, number>();
  return conversations.flatMap(({ recordingId, script }) =>
    script.exchanges.flatMap(({ userTexts, answerTexts }) => {
      const userHash = createHash('sha256').update(userTexts.join('\n')).digest('hex');
      const ordinal = (timesSent.get(userHash) ?? 0) + 1;
      timesSent.set(userHash, ordinal);
      if (answerTexts.length === 0) return [];
      // One part: a stream's text parts are pieces of one text, and would be joined without a space.
      const contents = [{ role: 'model', parts: [{ text: answerTexts.join('\n') }] }];
      return [{ conversation: recordingId, userHash, ordinal, contents }];
    }),
  );
}

/** Hands the recorded answers to a running fake Gemini. Throws an Error when it refuses them. */
async function registerAnswers(
  fakeGeminiUrl: string,
  conversations: readonly ScriptedConversation[],
): Promise<void> {
  const answers = recordedAnswers(conversations);
  const response = await fetch(`${fakeGeminiUrl}/control/answers`, {
    method: 'POST',
    body: JSON.stringify({ answers }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the fake Gemini refused the recorded answers: ${text}`);
  write(`${answers.length} recorded answers handed to the stand-in\n`);
}

/** Longest wait for one reply, streams included. */
const REPLY_TIMEOUT_MS = 300_000;

async function replayAll(
  { seed, settings, transport }: ReplayArguments,
  { url, token }: ReplayTarget,
  conversations: readonly ScriptedConversation[],
): Promise<ReplayedConversation[]> {
  const total = conversations.reduce((sum, { script }) => sum + script.exchanges.length, 0);
  let done = 0;
  const client = new ChatClient({ url, token, timeoutMs: REPLY_TIMEOUT_MS });
  const replayed: ReplayedConversation[] = [];
  for (const conversation of conversations) {
    const { recordingId } = conversation;
    const listener = {
      sent: () => {
        done += 1;
        if (Math.floor((10 * done) / total) > Math.floor((10 * (done - 1)) / total))
          write(`${done}/${total} ${recordingId}\n`);
      },
      compaction: (compaction: CompactionView) =>
        write(`${recordingId}: ${compactionText(compaction)}\n`),
    };
    const each = await replayConversation(
      { client, transport, seed, settings, listener },
      conversation,
    );
    for (const line of problemLines(each)) write(`${line}\n`);
    replayed.push(each);
  }
  return replayed;
}

/** True when everything that was sent and received stands in the transcript. */
async function replay(wanted: ReplayArguments): Promise<boolean> {
  const recordings = await readRecordings('FILE.jsonl', wanted.file);
  const chosen = chooseRecordings(recordings, wanted.conversation);
  const target = await openTarget(wanted);
  try {
    for (const note of target.notes) write(`${note}\n`);
    const conversations = chosen.map((recording) =>
      scriptedConversation(recording, wanted, target.maxPartBytes),
    );
    for (const { recordingId, script } of conversations) {
      const text = scriptText(script);
      if (text !== undefined) write(`${recordingId}: ${text}\n`);
    }
    if (wanted.answers === 'recorded' && target.fakeGeminiUrl !== undefined)
      await registerAnswers(target.fakeGeminiUrl, conversations);
    const figures = replayFigures(await replayAll(wanted, target, conversations));
    write(`${summaryText(figures)}\n`);
    if (wanted.jsonPath !== undefined)
      await writeFile(wanted.jsonPath, `${JSON.stringify(figures, undefined, 2)}\n`);
    return isComplete(figures);
  } finally {
    await target.stop();
  }
}

process.exitCode = await runCommand(replayHelp, async (argv) => {
  const wanted = parseReplayArguments(argv, chooseModel(process.env).kind !== 'stand-in');
  if (wanted === 'help') return 'help';
  return (await replay(wanted)) ? 0 : 1;
});
