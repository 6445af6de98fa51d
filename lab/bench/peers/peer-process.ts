import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { installPeer, peerFolder, type PeerName } from './install-peer.ts';
import { type Figures, type Order, replySchema } from './peer-wire.ts';

export interface PeerProcess {
  /** Resolves to what was measured. Rejects with what the peer says, or when the deadline is over. */
  ask(order: Order, deadlineMs: number): Promise<Figures>;
  close(): Promise<void>;
}

export interface PeerScript {
  peer: PeerName;
  /** Its script, in the folder of the peer. */
  script: string;
  args?: readonly string[];
  /** `host:port` of the Firestore emulator, where it uses one. */
  firestoreHost?: string;
}

const LAST_WORDS_CHARACTERS = 300;

/** No settings of this user, no telemetry, no keys: as if newly installed. What it writes goes with its `home`. */
const environmentOf = (home: string, firestoreHost: string | undefined): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: home,
  TMPDIR: home,
  GOOGLE_CLOUD_PROJECT: localProjectId,
  METADATA_SERVER_DETECTION: 'none',
  MASTRA_TELEMETRY_DISABLED: '1',
  LANGSMITH_TRACING: 'false',
  ...(firestoreHost !== undefined && { FIRESTORE_EMULATOR_HOST: firestoreHost }),
});

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Its next reply; rejects when it ends before, or `deadlineMs` is over. */
async function nextReply(
  child: ChildProcess,
  { deadlineMs, lastWords }: { deadlineMs: number; lastWords: () => string },
): Promise<Figures> {
  const signal = AbortSignal.timeout(deadlineMs);
  const ended = new AbortController();
  const tellEnd = () => ended.abort();
  child.once('exit', tellEnd);
  try {
    const either = AbortSignal.any([signal, ended.signal]);
    const [message] = await once(child, 'message', { signal: either });
    const reply = replySchema.parse(message);
    if (reply.kind === 'failed') throw new Error(reply.reason);
    return reply.figures;
  } catch (error) {
    if (ended.signal.aborted) throw new Error(`ended: ${lastWords()}`, { cause: error });
    if (!signal.aborted) throw error;
    await stop(child);
    throw new Error(`not done after ${deadlineMs / 1_000} s`, { cause: error });
  } finally {
    child.off('exit', tellEnd);
  }
}

/** Installs a peer and starts one of its scripts. Throws Error where it cannot be installed. */
export async function startPeer(peerScript: PeerScript): Promise<PeerProcess> {
  process.stderr.write(`installing ${peerScript.peer} …\n`);
  await installPeer(peerScript.peer);
  const home = mkdtempSync(join(tmpdir(), 'recap-bench-'));
  const child = fork(
    fileURLToPath(new URL(peerScript.script, peerFolder(peerScript.peer))),
    peerScript.args ?? [],
    {
      env: environmentOf(home, peerScript.firestoreHost),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    },
  );
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS_CHARACTERS);
  });
  return {
    ask: async (order, deadlineMs) => {
      if (!child.connected) throw new Error(`ended: ${lastWords}`);
      child.send(order);
      return nextReply(child, { deadlineMs, lastWords: () => lastWords });
    },
    close: async () => {
      await stop(child);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
