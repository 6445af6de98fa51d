import { type Stack, startStack } from '#infra/local/stack/start-stack.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import type { ReplayArguments } from './replay-arguments.ts';

/** Where a replay goes, and how long its texts may be there. */
export interface ReplayTarget {
  url: string;
  fakeGeminiUrl?: string;
  token: string;
  maxPartBytes: number;
  notes: string[];
  stop(): Promise<void>;
}

/** Default of MAX_PART_BYTES, which a service that was not started here is taken to have. */
const defaultMaxPartBytes = 32 * 1024;
/** The highest that the configuration takes. */
const raised = { maxPartBytes: 900_000, maxMessageBytes: 2_000_000, maxBodyBytes: 3_000_000 };

const localToken = (): string =>
  unsignedToken({ uid: 'replay', projectId: localProjectId, now: new Date() });

const hasThreshold = ({ settings }: ReplayArguments): boolean =>
  settings.thresholdTokens !== undefined || settings.thresholdFraction !== undefined;

async function startOwnStack(wanted: ReplayArguments, notes: string[]): Promise<Stack> {
  return startStack({
    embedded: wanted.isEmbedded,
    environment: {
      // A conversation may not ask for a higher threshold than its deployment has; 1 is none.
      ...(hasThreshold(wanted) && { THRESHOLD_FRACTION: '1' }),
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
export async function openReplayTarget(wanted: ReplayArguments): Promise<ReplayTarget> {
  if (wanted.url !== undefined)
    return {
      url: wanted.url,
      ...(wanted.fakeGeminiUrl !== undefined && { fakeGeminiUrl: wanted.fakeGeminiUrl }),
      token: wanted.token ?? localToken(),
      maxPartBytes: defaultMaxPartBytes,
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
    ...(stack.fakeGeminiUrl !== undefined && { fakeGeminiUrl: stack.fakeGeminiUrl }),
    token: localToken(),
    maxPartBytes: raised.maxPartBytes,
    notes: [
      `own local stack: ${stack.backend}; ${stack.model} (${starts.join(', ')})`,
      `limits raised for this stack: ${raised.maxPartBytes} bytes a part, ${raised.maxMessageBytes} a message, ${raised.maxBodyBytes} a body`,
    ],
    stop: () => stack.stop(),
  };
}
