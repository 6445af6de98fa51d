import { defineCommand, type CommandDef } from 'citty';
import { opsCommand, yesArg, type Surroundings } from '../command.ts';
import { ArgumentError, wholeNumber } from '../arguments.ts';
import type { DeadLetterBox } from '../letters/dead-letter-box.ts';
import type { DeadLetter } from '../letters/dead-letter-client.ts';
import { explainLetters, type ExplainedLetter } from '../letters/explain-letters.ts';
import type { Project } from '../project.ts';
import { figure, toTable, time, type Screen } from '../screen.ts';

const LETTERS_MAX = 1_000;

const boxArgs = {
  topic: {
    type: 'string',
    valueHint: 'TOPIC',
    default: 'compaction',
    description: 'compaction or events',
  },
  limit: { type: 'string', valueHint: 'N', default: '100', description: 'at most N of them' },
} as const;

interface Place {
  box: DeadLetterBox;
  topicId: string;
  /** Of the local stack and of terraform/: the topic with `-dead` behind it. */
  subscriptionId: string;
}

function placeOf({ chat, deadLetters }: Project, topic: string): Place {
  if (topic !== 'compaction' && topic !== 'events')
    throw new ArgumentError(`--topic is compaction or events, not ${JSON.stringify(topic)}`);
  if (!deadLetters)
    throw new ArgumentError(
      'there are no dead letters of an embedded stack: its bus is in the memory of its own process',
    );
  const { COMPACTION_TOPIC, EVENTS_TOPIC } = chat.config;
  const topicId = topic === 'events' ? EVENTS_TOPIC : COMPACTION_TOPIC;
  return { box: deadLetters, topicId, subscriptionId: `${topicId}-dead` };
}

/** Says what is missing where Pub/Sub says NOT_FOUND. */
async function whereThere<T>({ subscriptionId }: Place, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 5;
    if (!isMissing) throw error;
    throw new ArgumentError(
      `there is no subscription ${subscriptionId}: is --topic right, and COMPACTION_TOPIC or EVENTS_TOPIC (--env-file)? The events topic has one only where somebody is told of events`,
    );
  }
}

const ageOf = (publishTime: Date | undefined, now: Date): string =>
  publishTime
    ? `${figure(Math.max(0, Math.round((now.getTime() - publishTime.getTime()) / 60_000)))} min`
    : '-';

function tell(screen: Screen, letters: readonly ExplainedLetter[], now: Date): void {
  if (letters.length === 0) return;
  screen.print(
    toTable<ExplainedLetter>(
      [
        { title: 'message', text: ({ messageId }) => messageId },
        { title: 'age', text: ({ publishTime }) => ageOf(publishTime, now), isFigure: true },
        { title: 'attempts', text: ({ attempts }) => figure(attempts), isFigure: true },
        { title: 'event', text: ({ event }) => event },
        { title: 'conversation', text: ({ conversationId }) => conversationId ?? '-' },
        { title: 'why', text: ({ why }) => why },
      ],
      letters,
    ),
  );
}

const jsonOf = ({ publishTime, ...letter }: ExplainedLetter) => ({
  ...letter,
  publishTime: time(publishTime),
});

const listCommand = opsCommand({
  name: 'list',
  description: 'Lists dead letters and leaves them where they are.',
  args: boxArgs,
  async run({ args, project, screen }) {
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LETTERS_MAX });
    const place = placeOf(project, args.topic);
    const letters = await whereThere(place, place.box.look({ ...place, limit }));
    const explained = await explainLetters(project.chat.store, letters);
    screen.json({ subscription: place.subscriptionId, letters: explained.map(jsonOf) });
    tell(screen, explained, project.chat.clock.now());
    screen.print(`${figure(letters.length)} dead letters in ${place.subscriptionId}`);
    return letters.length === 0 ? 0 : 1;
  },
});

const isMeantBy =
  (ids: readonly string[]) =>
  ({ messageId }: Pick<DeadLetter, 'messageId'>): boolean =>
    ids.length === 0 || ids.includes(messageId);

const replayCommand = opsCommand({
  name: 'replay',
  description: 'Publishes dead letters again, then takes them away.',
  args: {
    message: { type: 'positional', required: false, description: 'ids of messages; default: all' },
    ...boxArgs,
    ...yesArg,
  },
  async run({ args, project, screen }) {
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LETTERS_MAX });
    const place = placeOf(project, args.topic);
    const { box, subscriptionId, topicId } = place;
    const isMeant = isMeantBy(args._);
    const work = args.yes
      ? box.replay({ subscriptionId, topicId, limit, isMeant })
      : box
          .look({ subscriptionId, limit })
          .then((letters) => letters.filter((each) => isMeant(each)));
    const letters = await whereThere(place, work);
    const explained = await explainLetters(project.chat.store, letters);
    screen.json({ dryRun: !args.yes, topic: topicId, letters: explained.map(jsonOf) });
    tell(screen, explained, project.chat.clock.now());
    screen.print(
      args.yes
        ? `${figure(letters.length)} published to ${topicId} again`
        : `would publish ${figure(letters.length)} to ${topicId} again, and take them out of ${subscriptionId}; --yes does it`,
    );
    return 0;
  },
});

/** Events that were delivered too often in vain, and what to do with them. */
export const deadLettersCommand = (surroundings: Surroundings): CommandDef =>
  defineCommand({
    meta: { name: 'dead-letters', description: 'Lists dead letters, or publishes them again.' },
    subCommands: { list: listCommand(surroundings), replay: replayCommand(surroundings) },
  });
