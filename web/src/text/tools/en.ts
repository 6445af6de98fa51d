import type { FaultName, FindingTexts, Verdict } from '#web/panes/faults/finding.ts';
import type { PlayerState } from '#web/panes/player/player.ts';
import type { Facade } from '#web/panes/wire/facade-requests.ts';
import type { Figures } from '../figures.ts';

/** What a fault does, and what must hold whatever it does. */
interface FaultTexts {
  title: string;
  does: string;
  holds: string;
}

/** A figure and what it counts, in the plural where it is not one. */
const some = (
  count: Figures['count'],
  value: number,
  [one, more = `${one}s`]: readonly [string, string?],
): string => `${count(value)} ${value === 1 ? one : more}`;

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

const refusals: FindingTexts['quota'] = ({ met, calls, turns, isAnswered }, { count }) => {
  const end = isAnswered ? `answered at call ${count(calls)}` : 'not answered';
  return `refused ${some(count, met, ['time'])}, ${end}, ${some(count, turns, ['turn'])}`;
};

const findings: FindingTexts = {
  drop: ({ cutAfter, resumedAt, repeated, isSameText }, { count }) => {
    if (resumedAt === undefined) return 'the stream was not resumed after the cut';
    const text = `the text is ${isSameText ? '' : 'NOT '}the stored answer`;
    const again = repeated > 0 ? `; ${some(count, repeated, ['event'])} came twice` : '';
    return `stream cut after event ${cutAfter ?? '–'}, resumed at ${resumedAt}; ${text}${again}`;
  },
  resend: ({ sends, turns, answers, calls }, { count }) => {
    const called = calls === undefined ? '' : `, ${some(count, calls, ['model call'])}`;
    const answered = some(count, answers, ['answer', 'different answers']);
    return `${some(count, sends, ['send'])}, ${some(count, turns, ['turn'])}, ${answered}${called}`;
  },
  killChat: ({ turns, attempts, isAnswered, afterMs }, { count, duration }) => {
    const end = isAnswered ? `answered ${duration(afterMs)} after the kill` : 'not answered';
    return `${some(count, turns, ['turn'])}, ${end}, at attempt ${count(attempts)}`;
  },
  killWorker: ({ swaps, missing, afterMs }, { count, duration }) =>
    `killed at its work; ${some(count, swaps, ['swap'])}, ${duration(afterMs)} after the kill; ${some(count, missing, ['message'])} lost`,
  quota: refusals,
  unavailable: refusals,
  safety: ({ isKept, isInContext, isNextAnswered }) =>
    `message kept in the transcript: ${yesNo(isKept)}; seen by the model: ${yesNo(isInContext)}; next message answered: ${yesNo(isNextAnswered)}`,
  redeliver: ({ deliveries, acknowledged, swaps }, { count }) =>
    `${some(count, deliveries, ['delivery', 'deliveries'])} more, ${count(acknowledged)} acknowledged, ${some(count, swaps, ['swap'])} in all`,
  inventive: ({ figures, marked, unmarked }, { count }) => {
    const list = unmarked.length === 0 ? 'none' : unmarked.slice(0, 5).join(', ');
    return `${some(count, marked, ['value'])} marked as said by nobody; of ${some(count, figures, ['number'])} in the snapshot unsaid and not marked: ${list}`;
  },
  threshold: ({ state, turnsFolded, reason }, { count }) =>
    state === undefined
      ? 'nothing happened'
      : `${state}${reason === undefined ? '' : ` (${reason})`}, ${some(count, turnsFolded, ['turn'])} folded`,
};

/** The sentences of the tools; loaded with the first of them. */
export const en = {
  faults: {
    intro:
      'Each fault runs for real, in a conversation of its own, and is judged by what the public API says afterwards.',
    absent: 'There is no supervisor here. Faults can be ordered on the local stack: npm start.',
    run: 'Run',
    runAll: 'Run all',
    stop: 'Stop',
    reset: 'Reset',
    running: (elapsed: string) => `running for ${elapsed} …`,
    mustHold: 'Must hold',
    notHere:
      'Not possible here: the function and the store are one process. Start with the emulators.',
    noStandIn: 'Not possible here: a real model takes no orders.',
    failed: (problem: string) => `It could not be tried: ${problem}`,
    took: (elapsed: string) => `after ${elapsed}`,
    sum: (held: string, judged: string) => `${held} of ${judged} held`,
    armed: (count: string) => `Armed now: ${count} refusals of the model wait.`,
    outcome: { held: 'held', broken: 'BROKEN', unclear: 'unclear' } satisfies Record<
      Verdict['outcome'],
      string
    >,
    findings,
    names: {
      drop: {
        title: 'Drop the stream',
        does: 'Resets the connection in the middle of an answer.',
        holds: 'A stream goes on after any event, with exactly what follows.',
      },
      resend: {
        title: 'Resend × 5',
        does: 'Sends the same message five times at once.',
        holds: 'One message id is one turn with one answer, and one call of the model.',
      },
      killChat: {
        title: 'Kill chat',
        does: 'Kills the chat function (SIGKILL) while it answers.',
        holds: 'The message is stored before the model is called, and gets its answer.',
      },
      killWorker: {
        title: 'Kill the worker',
        does: 'Kills the compaction function (SIGKILL) while it summarises. Takes about half a minute.',
        holds: 'Another worker ends the work, once, and no message is lost.',
      },
      quota: {
        title: 'Model: 429',
        does: 'The model refuses twice: too many requests.',
        holds: 'It is asked again; the user gets one answer.',
      },
      unavailable: {
        title: 'Model: 503',
        does: 'The model refuses twice: unavailable.',
        holds: 'It is asked again; the user gets one answer.',
      },
      safety: {
        title: 'Model: SAFETY',
        does: 'The model’s safety filter ends an answer.',
        holds: 'The message stays in the transcript and out of the context; the chat goes on.',
      },
      redeliver: {
        title: 'Redeliver × 3',
        does: 'Delivers the event of a compaction three times more.',
        holds: 'A generation is created once; every delivery is acknowledged.',
      },
      inventive: {
        title: 'Inventive summariser',
        does: 'The summariser alters a number.',
        holds:
          'A long number that no message holds stands in the snapshot only with a mark behind it: ⁇.',
      },
      threshold: {
        title: 'Lower the threshold',
        does: 'Sets the threshold below what the conversation holds already.',
        holds: 'A crossing is followed by a compaction or a recorded reason.',
      },
    } satisfies Record<FaultName, FaultTexts>,
  },
  wire: {
    frames: 'Events of the stream',
    requests: 'Requests of the page',
    noFrames: 'No event yet. Send a message.',
    noRequests: 'No request yet.',
    columns: { id: 'id', at: 'ms', type: 'type', size: 'bytes' },
    stream: (path: string) => `Stream of ${path}`,
    copy: 'Copy as curl',
    copied: 'Copied',
    notCopied: 'The browser did not let the page copy. Select the text:',
    tokenHint:
      'The token is left out: the command takes it from $RECAP_TOKEN, which npm start prints.',
    noAnswer: 'no answer',
    underWay: '…',
    compare: 'Compare protocols',
    compareTitle: 'One message, four protocols',
    compareHint: 'The same message with the same id over each: one turn, one answer.',
    compareText: 'Message',
    compareDefault: 'Order 4417 is 20 tulips, to be fetched at 16:45.',
    compareRun: 'Send over all four',
    close: 'Close',
    facades: {
      recap: 'Recap',
      aiSdk: 'AI SDK',
      openAi: 'OpenAI',
      callable: 'Firebase callable',
    } satisfies Record<Facade, string>,
    turns: (turns: string) => `turn ${turns}`,
  },
  player: {
    intro:
      'Plays what the user of a recorded conversation said, turn by turn, into a new one. The model answers anew.',
    sample: 'Recording',
    samples: { garden: 'An allotment garden (English)', journey: 'A journey to Kyoto (Japanese)' },
    file: 'Or a file (JSON lines)',
    conversation: 'Conversation',
    threshold: 'Compact at (tokens)',
    gap: 'Between messages',
    play: 'Play',
    pause: 'Pause',
    resume: 'Go on',
    stop: 'Stop',
    progress: (position: string, total: string) => `${position} of ${total} messages`,
    compactions: (count: string) => `Compactions: ${count}`,
    unreadable: (line: string) =>
      `Line ${line} is no recorded conversation: {"id","turns":[{"role","parts":[{"text"}]}]}`,
    empty: 'The file holds no conversation with a message of a user.',
    tooLarge: (limit: string) => `The file is larger than ${limit} bytes.`,
    state: {
      idle: '',
      playing: 'Playing',
      paused: 'Paused',
      ended: 'All of it was said.',
      stopped: 'Stopped',
      left: 'Stopped: another conversation is shown.',
      failed: 'Stopped: a message was not answered.',
    } satisfies Record<PlayerState, string>,
  },
};

export type ToolTexts = typeof en;
