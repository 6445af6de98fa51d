import { opsCommand, yesArg } from '../command.ts';
import { parseCollectionPattern, parseOwner } from '../import/collection-pattern.ts';
import { forEachDiscussion } from '../import/find-discussions.ts';
import { importDiscussion } from '../import/import-discussion.ts';
import { addToTally, hasFailures, newTally, progressText, tallyText } from '../import/tally.ts';

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
    'from-project': {
      type: 'string',
      valueHint: 'ID',
      description: 'Google Cloud project of the extension (default: the one of Recap)',
    },
    'from-database': {
      type: 'string',
      valueHint: 'ID',
      description:
        'database of the extension (default: the one of Recap; with --from-project the default one)',
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
      source: project.sourceDatabase({
        project: args['from-project'],
        database: args['from-database'],
      }),
      names: {
        prompt: args['prompt-field'],
        response: args['response-field'],
        order: args['order-field'],
      },
      isMeant: args.yes,
    };
    const tally = newTally();
    await forEachDiscussion(importing.source, pattern, async ({ collection, parameters }) => {
      const wanted = { collection, ownerUid: ownerIn(parameters) };
      addToTally(tally, collection, await importDiscussion(importing, wanted));
      screen.progress(progressText(tally));
    });
    screen.json({ dryRun: !args.yes, ...tally });
    screen.print(tallyText(tally, args.yes));
    return hasFailures(tally) ? 1 : 0;
  },
});
