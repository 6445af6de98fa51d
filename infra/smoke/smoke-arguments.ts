import { isLoopback } from '#functions/local-server.ts';
import { ArgumentError, readOptions, recapCommand } from '#infra/command-line.ts';

export const smokeHelp = `Usage: ${recapCommand('smoke', '--url URL [--token TOKEN | --api-key KEY] [options]')}

Checks a deployment, or the local stack, from end to end by its public API: streams the answer to a message,
has the conversation compacted, looks for a fact in the snapshot, and erases the conversation that it made. A message
costs what a message costs.

  --url URL          address of chat: terraform output -raw chat_url
  --token TOKEN      Firebase ID token of a user; default the variable RECAP_TOKEN
  --api-key KEY      web API key of the Firebase project: signs a new anonymous user in, and erases it
  --app-check TOKEN  App Check token, where the deployment asks for one
  --report FILE      also the results as Markdown for an issue, without tokens, project ids and hosts of your own
  --help             this text

On this machine's own stack (${recapCommand('dev')}) no token is needed.

Exit code: 0 all is well, 1 a step failed, 2 wrong arguments.`;

export interface SmokeArguments {
  url: string;
  token?: string | undefined;
  apiKey?: string | undefined;
  appCheck?: string | undefined;
  /** File of the report. */
  report?: string | undefined;
}

function checkUrl(url: string | undefined): string {
  if (url === undefined)
    throw new ArgumentError('--url is missing: terraform output -raw chat_url');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ArgumentError(
      `--url takes an address such as https://…run.app, not ${JSON.stringify(url)}`,
    );
  return url;
}

/** Reads the command line; 'help' when that was asked for. Throws ArgumentError. */
export function parseSmokeArguments(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): SmokeArguments | 'help' {
  const text = { type: 'string' } as const;
  const options = { url: text, token: text, 'api-key': text, 'app-check': text, report: text };
  const values = readOptions(argv, { ...options, help: { type: 'boolean' } });
  if (values.help) return 'help';
  const url = checkUrl(values.url);
  const apiKey = values['api-key'];
  const token = values.token ?? (apiKey === undefined ? environment['RECAP_TOKEN'] : undefined);
  if (values.token !== undefined && apiKey !== undefined)
    throw new ArgumentError('--token and --api-key are two ways to sign in: give one');
  // Unsigned tokens of the stack of this machine anybody can make.
  if (token === undefined && apiKey === undefined && !isLoopback(new URL(url).hostname))
    throw new ArgumentError(
      'nobody is signed in: give --api-key for a new anonymous user, or --token',
    );
  return { url, token, apiKey, appCheck: values['app-check'], report: values.report };
}
