import { parseArgs } from 'node:util';

export const smokeHelp = `Usage: npm run smoke -- --url URL [--token TOKEN | --api-key KEY] [options]

Checks a deployment, or the local stack, from end to end by its public API: sends and streams a message, resumes and
replays it, has the conversation compacted, looks for a fact in the snapshot, goes back, exports, searches, and
erases the conversation that it made. A message costs what a message costs.

  --url URL          address of chat: terraform output -raw chat_url
  --token TOKEN      Firebase ID token of a user; default the variable RECAP_TOKEN
  --api-key KEY      web API key of the Firebase project: signs a new anonymous user in
  --app-check TOKEN  App Check token, where the deployment asks for one
  --origin ORIGIN    a page's origin that must be allowed to call (CORS)
  --wait-seconds N   how long a compaction, and an erasure, may take (default 180)
  --erase-user       erase the user as well; only with --api-key, whose user nobody else has
  --json             the results as JSON
  --report FILE      also the results as Markdown for an issue, without tokens, project ids and hosts of your own
  --help             this text

On this machine's own stack (npm start) no token is needed.

Exit code: 0 all is well, 1 a step failed, 2 wrong arguments.`;

export interface SmokeArguments {
  url: string;
  token?: string | undefined;
  apiKey?: string | undefined;
  appCheck?: string | undefined;
  origin?: string | undefined;
  waitSeconds: number;
  erasesUser: boolean;
  isJson: boolean;
  /** File of the report. */
  report?: string | undefined;
  /** Names of the options that were given, with their dashes. */
  given: string[];
}

const MOST_WAIT_SECONDS = 3_600;

/** The stack of this machine, whose unsigned tokens anybody can make. */
const isLocal = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

function checkUrl(url: string | undefined): string {
  if (url === undefined) throw new Error('--url is missing: terraform output -raw chat_url');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`--url takes an address such as https://…run.app, not ${JSON.stringify(url)}`);
  return url;
}

function readLine(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, tokens } = parseArgs({
    args: [...argv],
    tokens: true,
    options: {
      url: text,
      token: text,
      'api-key': text,
      'app-check': text,
      origin: text,
      'wait-seconds': { ...text, default: '180' },
      'erase-user': flag,
      json: flag,
      report: text,
      help: flag,
    },
  });
  const given = tokens.flatMap((each) => (each.kind === 'option' ? [each.rawName] : []));
  return { values, given };
}

/** Reads the command line; 'help' when that was asked for. Throws an Error that names the flag. */
export function parseSmokeArguments(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): SmokeArguments | 'help' {
  const { values, given } = readLine(argv);
  if (values.help) return 'help';
  const url = checkUrl(values.url);
  const apiKey = values['api-key'];
  const token = values.token ?? (apiKey === undefined ? environment['RECAP_TOKEN'] : undefined);
  const waitSeconds = Number(values['wait-seconds']);
  if (!Number.isInteger(waitSeconds) || waitSeconds < 1 || waitSeconds > MOST_WAIT_SECONDS)
    throw new Error(
      `--wait-seconds takes a whole number from 1 to ${MOST_WAIT_SECONDS}, not ${JSON.stringify(values['wait-seconds'])}`,
    );
  if (values.token !== undefined && apiKey !== undefined)
    throw new Error('--token and --api-key are two ways to sign in: give one');
  if (token === undefined && apiKey === undefined && !isLocal(url))
    throw new Error('nobody is signed in: give --api-key for a new anonymous user, or --token');
  if (values['erase-user'] && apiKey === undefined)
    throw new Error(
      '--erase-user needs --api-key: of another user nothing but the conversation is erased',
    );
  return {
    url,
    token,
    apiKey,
    appCheck: values['app-check'],
    origin: values.origin,
    waitSeconds,
    erasesUser: values['erase-user'],
    isJson: values.json,
    report: values.report,
    given,
  };
}
