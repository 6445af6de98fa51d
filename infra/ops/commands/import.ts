import { opsCommand, yesArg } from '../command.ts';
import { parseCollectionPattern, parseOwner } from '../import/collection-pattern.ts';
import { forEachDiscussion } from '../import/discussions.ts';
import { importDiscussion } from '../import/import-discussion.ts';
import { Tally } from '../import/tally.ts';

const field = (valueHint: string, name: string, description: string) =>
  ({ type: 'string', valueHint, default: name, description }) as const;

/** Makes conversations of what the Firebase extension firestore-genai-chatbot has stored. */
export const importCommand = opsCommand({
  name: 'import',
  description:
    'Makes conversations of what the Firebase extension firestore-genai-chatbot has stored, which stays as it is.',
  args: {
    from: {
      type: 'string',
      valueHint: 'PATH',
      required: true,
      description:
        'collection path of the extension, such as users/{uid}/discussions/{id}/messages',
    },
    owner: field(
      'UID',
      '{uid}',
      'whose the conversations are: a uid, or a {parameter} of the path',
    ),
    'from-database': {
      type: 'string',
      valueHint: 'ID',
      description: 'database of the extension (default: the one of Recap)',
    },
    'prompt-field': field('NAME', 'prompt', 'field of the prompt'),
    'response-field': field('NAME', 'response', 'field of the response'),
    'order-field': field('NAME', 'createTime', 'field that orders a discussion'),
    ...yesArg,
  },
  async run({ args, project, screen }) {
    const pattern = parseCollectionPattern(args.from);
    const ownerIn = parseOwner(args.owner, pattern);
    const importing = {
      chat: project.chat,
      source: project.sourceDatabase(args['from-database']),
      names: {
        prompt: args['prompt-field'],
        response: args['response-field'],
        order: args['order-field'],
      },
      isMeant: args.yes,
    };
    const tally = new Tally();
    await forEachDiscussion(importing.source, pattern, async ({ collection, parameters }) => {
      const wanted = { collection, ownerUid: ownerIn(parameters) };
      tally.add(collection, await importDiscussion(importing, wanted));
      screen.progress(tally.progress);
    });
    screen.json({ dryRun: !args.yes, ...tally.figures });
    screen.print(tally.text(args.yes));
    return tally.hasFailures ? 1 : 0;
  },
});
