/*
 * Gemini CLI: its chat and its compression service, with a model that answers at once. What it asks of its
 * configuration is answered as a new installation would.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatCompressionService } from '@google/gemini-cli-core/dist/src/context/chatCompressionService.js';
import { GeminiChat } from '@google/gemini-cli-core/dist/src/core/geminiChat.js';
import { CompressionStatus } from '@google/gemini-cli-core/dist/src/core/turn.js';
import { benchTurns } from '../../worlds/bench-conversation.ts';
import { servePeer } from '../serve-peer.ts';

const MODEL = 'gemini-2.5-flash';
const SUMMARY = '<state_snapshot><overall_goal>A week in Busan.</overall_goal></state_snapshot>';

/** The settings of a new installation. */
function configurationOf(temporaryFolder) {
  let files = 0;
  const config = {
    /** It is its own context, as the real one. */
    get config() {
      return config;
    },
    getModel: () => MODEL,
    getProjectRoot: () => temporaryFolder,
    getActiveModel: () => MODEL,
    isContextManagementEnabled: () => false,
    getHookSystem: () => undefined,
    getCompressionThreshold: () => Promise.resolve(undefined),
    getNextCompressionTruncationId: () => ++files,
    getTruncateToolOutputThreshold: () => 40_000,
    storage: { getProjectTempDir: () => temporaryFolder },
    getApprovedPlanPath: () => undefined,
    getIncludeDirectoryTree: () => false,
    getSessionMemory: () => '',
    getExperiments: () => undefined,
    isInteractive: () => true,
    getContentGeneratorConfig: () => ({}),
    getUsageStatisticsEnabled: () => false,
    getTelemetryEnabled: () => false,
    getSessionId: () => 'bench',
    getContentGenerator: () => ({}),
    getBaseLlmClient: () => ({
      generateContent: () =>
        Promise.resolve({ candidates: [{ content: { parts: [{ text: SUMMARY }] } }] }),
    }),
  };
  return config;
}

/** One whole compress() of so many messages; ms of the processor. */
async function compress(kind, messages) {
  const turns = benchTurns(messages, kind === 'tools' ? 'tools' : 'chat');
  const history = turns.flatMap(({ user, contents }) => [user, ...contents]);
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'recap-bench-gemini-cli-'));
  try {
    const config = configurationOf(temporaryFolder);
    const chat = new GeminiChat({ config, promptId: 'bench' }, '', [], history);
    const service = new ChatCompressionService();
    const before = process.cpuUsage();
    const { info } = await service.compress(chat, 'bench', true, MODEL, config, false);
    const { user, system } = process.cpuUsage(before);
    if (info.compressionStatus !== CompressionStatus.COMPRESSED)
      throw new Error(`compress() ended with status ${info.compressionStatus}`);
    return (user + system) / 1_000;
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

servePeer({
  /** `KIND MESSAGES` */
  compress: (argument) => {
    const [kind = '', messages] = argument.split(' ');
    return compress(kind, Number(messages));
  },
});
