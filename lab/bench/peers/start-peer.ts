import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import type { Order, Reply } from './serve-peer.ts';

const INSTALL_TIMEOUT_MS = 180_000;
const LAST_WORDS_CHARACTERS = 300;

interface PeerScript {
  /** A folder here with a package.json; its scripts are JavaScript, since its types are not installed. */
  peer: string;
  script: string;
  /** `host:port` of the Firestore emulator, where it uses one. */
  firestoreHost?: string;
}

interface PeerProcess {
  /** Resolves to ms. Rejects with what the peer says, or when the deadline is over. */
  ask(order: Order, deadlineMs: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Installs the packages of a peer into its folder, where they are not there already; no script of theirs runs
 * meanwhile. Throws Error where that fails.
 */
async function installPeer(peer: string): Promise<void> {
  const how = ['--no-package-lock', '--ignore-scripts', '--prefer-offline', '--fetch-retries=1'];
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...how, ...quietly], {
    cwd: fileURLToPath(new URL(`${peer}/`, import.meta.url)),
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/** Installs a peer and starts one of its scripts: no settings of this user, no telemetry, no keys. Throws Error. */
export async function startPeer(peerScript: PeerScript): Promise<PeerProcess> {
  const { peer, script, firestoreHost } = peerScript;
  process.stderr.write(`installing ${peer} …\n`);
  await installPeer(peer);
  const home = await mkdtemp(join(tmpdir(), 'recap-bench-'));
  const child = fork(fileURLToPath(new URL(`${peer}/${script}`, import.meta.url)), [], {
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TMPDIR: home,
      GOOGLE_CLOUD_PROJECT: localProjectId,
      METADATA_SERVER_DETECTION: 'none',
      MASTRA_TELEMETRY_DISABLED: '1',
      LANGSMITH_TRACING: 'false',
      ...(firestoreHost !== undefined && { FIRESTORE_EMULATOR_HOST: firestoreHost }),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS_CHARACTERS);
  });
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  return {
    ask: async (order, deadlineMs) => {
      const deadline = AbortSignal.timeout(deadlineMs);
      const signal = AbortSignal.any([ended.signal, deadline]);
      try {
        const replied = once(child, 'message', { signal });
        child.send(order);
        const [message] = await replied;
        const reply = message as Reply;
        if ('reason' in reply) throw new Error(reply.reason);
        return reply.ms;
      } catch (error) {
        if (ended.signal.aborted) throw new Error(`ended: ${lastWords}`, { cause: error });
        if (!deadline.aborted) throw error;
        child.kill('SIGKILL');
        throw new Error(`not done after ${deadlineMs / 1_000} s`, { cause: error });
      }
    },
    close: async () => {
      if (!ended.signal.aborted) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(home, { recursive: true, force: true });
    },
  };
}
