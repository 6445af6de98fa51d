import { opsCommand, yesArg } from '../command.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { wholeNumber } from '../arguments.ts';
import { type DeadLetter, explainLetters, type ExplainedLetter } from '#infra/ops/dead-letters.ts';
import { counted, figure, toTable, time } from '../screen.ts';

const LETTERS_MAX = 1_000;

/** Says what is missing where Pub/Sub says NOT_FOUND. */
function whereThere(error: unknown, subscriptionId: string): unknown {
  const isMissing = error instanceof Error && 'code' in error && error.code === 5;
  return isMissing
    ? new ArgumentError(
        `there is no subscription ${subscriptionId}: is --topic right, and COMPACTION_TOPIC or EVENTS_TOPIC (--env-file)? The events topic has one only where somebody is told of events`,
      )
    : error;
}

const ageOf = (publishTime: Date | undefined, now: Date): string =>
  publishTime
    ? `${figure(Math.max(0, Math.round((now.getTime() - publishTime.getTime()) / 60_000)))} min`
    : '-';

const tableText = (letters: readonly ExplainedLetter[], now: Date) =>
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
  );

/** Events that were delivered too often in vain. They stay where they are unless they are published again. */
export const deadLettersCommand = opsCommand({
  name: 'dead-letters',
  description: 'Lists dead letters; with --yes, publishes them again and takes them away.',
  args: {
    message: { type: 'positional', required: false, description: 'ids of messages; default: all' },
    topic: {
      type: 'enum',
      options: ['compaction', 'events'],
      default: 'compaction',
      description: 'of which topic',
    },
    limit: { type: 'string', valueHint: 'N', default: '100', description: 'at most N of them' },
    ...yesArg,
  },
  takesMany: true,
  async run({ args, project, screen }) {
    const { chat, deadLetters } = project;
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LETTERS_MAX });
    const { COMPACTION_TOPIC, EVENTS_TOPIC } = chat.config;
    const topicId = args.topic === 'events' ? EVENTS_TOPIC : COMPACTION_TOPIC;
    // As terraform/ and the local stack name it.
    const subscriptionId = `${topicId}-dead`;
    const isMeant = ({ messageId }: DeadLetter) =>
      args._.length === 0 || args._.includes(messageId);
    const place = { subscriptionId, topicId, limit };
    const work = args.yes
      ? deadLetters.replay(place, isMeant)
      : deadLetters.list(place).then((found) => found.filter((letter) => isMeant(letter)));
    const letters = await work.catch((error: unknown) => {
      throw whereThere(error, subscriptionId);
    });
    const explained = await explainLetters(chat.store, letters);
    screen.json({
      dryRun: !args.yes,
      subscription: subscriptionId,
      letters: explained.map((letter) => ({ ...letter, publishTime: time(letter.publishTime) })),
    });
    if (letters.length > 0) screen.print(tableText(explained, chat.clock.now()));
    const many = counted(letters.length, 'dead letter');
    if (args.yes) screen.print(`${many} published to ${topicId} again`);
    else
      screen.print(
        letters.length === 0
          ? `${many} in ${subscriptionId}`
          : `${many} in ${subscriptionId}; --yes publishes them to ${topicId} again and takes them away`,
      );
    return letters.length > 0 && !args.yes ? 1 : 0;
  },
});
