import { chooseModel } from '#infra/local/stack/stack-environment.ts';
import { writeFile } from 'node:fs/promises';
import { runCommand } from '#test/support/processes/run-command.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { readRecordings } from '../given-files.ts';
import { ChatClient } from './chat-client.ts';
import { registerScriptedAnswers, type ScriptedConversation } from './scripted-answers.ts';
import { type Recording, scriptOf } from './recording.ts';
import {
  ArgumentError,
  parseReplayArguments,
  type ReplayArguments,
  replayHelp,
} from './replay-arguments.ts';
import { replayConversation, type ReplayedConversation } from './replay-conversation.ts';
import { isComplete, replayFigures } from './replay-figures.ts';
import { openReplayTarget, type ReplayTarget } from './replay-target.ts';
import { compactionText, problemLines, scriptText, summaryText } from './replay-text.ts';
import { stableUuid } from './stable-uuid.ts';

const write = (text: string): void => void process.stdout.write(text);
const replyTimeoutMs = 300_000;

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
    ...(recording.system !== undefined && { systemInstruction: recording.system }),
    script: { ...script, exchanges: script.exchanges.slice(0, wanted.limit) },
  };
}

async function replayAll(
  wanted: ReplayArguments,
  target: ReplayTarget,
  conversations: readonly ScriptedConversation[],
): Promise<ReplayedConversation[]> {
  const total = conversations.reduce((sum, { script }) => sum + script.exchanges.length, 0);
  let done = 0;
  const tell = (line: string): void => write(terminalText(`${line}\n`));
  const countSent = (count: number, recordingId: string): void => {
    const tenthsBefore = Math.floor((10 * done) / total);
    done += count;
    if (Math.floor((10 * done) / total) > tenthsBefore) tell(`${done}/${total} ${recordingId}`);
  };
  const client = new ChatClient({
    url: target.url,
    token: target.token,
    transport: wanted.transport,
    timeoutMs: replyTimeoutMs,
  });
  const replayed: ReplayedConversation[] = [];
  for (const conversation of conversations) {
    const { recordingId } = conversation;
    const listener = {
      sent: (count: number) => countSent(count, recordingId),
      compaction: (compaction: Parameters<typeof compactionText>[0]) =>
        tell(`${recordingId}: ${compactionText(compaction)}`),
    };
    const { seed, settings } = wanted;
    const each = await replayConversation({ client, seed, settings, listener }, conversation);
    for (const line of problemLines(each)) tell(line);
    replayed.push(each);
  }
  return replayed;
}

/** True when everything that was sent and received stands in the transcript. */
async function replay(wanted: ReplayArguments): Promise<boolean> {
  const recordings = await readRecordings('FILE.jsonl', wanted.file);
  const chosen = chooseRecordings(recordings, wanted.conversation);
  const target = await openReplayTarget(wanted);
  try {
    for (const note of target.notes) write(`${note}\n`);
    const conversations = chosen.map((recording) =>
      scriptedConversation(recording, wanted, target.maxPartBytes),
    );
    for (const { recordingId, script } of conversations) {
      const text = scriptText(script);
      if (text !== undefined) write(terminalText(`${recordingId}: ${text}\n`));
    }
    if (wanted.answers === 'recorded' && target.fakeGeminiUrl !== undefined) {
      const count = await registerScriptedAnswers(target.fakeGeminiUrl, conversations);
      write(`${count} recorded answers handed to the stand-in\n`);
    }
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
