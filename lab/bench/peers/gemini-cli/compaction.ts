/*
 * Gemini CLI: its chat and its compression service, with a model that answers at once. What it asks of its
 * configuration is answered as a new installation would.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchTurns, type ConversationKind } from '../../bench-conversation.ts';
import { estimateText, megabytesOf, type TextKind } from '../../estimate-texts.ts';
import { processorMs } from '../../processor-time.ts';
import { peerModule, servePeer } from '../peer-host.ts';

interface Chat {
  getHistory(isCurated: boolean): object[];
}

interface CompressionService {
  compress(...call: unknown[]): Promise<{ info: { compressionStatus: number } }>;
}

const folder = '@google/gemini-cli-core/dist/src';
const { ChatCompressionService, findCompressSplitPoint } = await peerModule<{
  ChatCompressionService: new () => CompressionService;
  findCompressSplitPoint: (contents: readonly object[], fraction: number) => number;
}>(import.meta.resolve(`${folder}/context/chatCompressionService.js`));
const { GeminiChat } = await peerModule<{
  GeminiChat: new (...call: unknown[]) => Chat;
}>(import.meta.resolve(`${folder}/core/geminiChat.js`));
const { estimateTokenCountSync } = await peerModule<{
  estimateTokenCountSync: (parts: readonly object[]) => number;
}>(import.meta.resolve(`${folder}/utils/tokenCalculation.js`));

const MODEL = 'gemini-2.5-flash';
const COMPRESSED = 1;
/** Of the history, as the service asks for. */
const SPLIT_FRACTION = 0.7;
const SUMMARY = '<state_snapshot><overall_goal>A week in Busan.</overall_goal></state_snapshot>';

/** The settings of a new installation; `onModelCall` hears of every call of the model. */
function configurationOf(temporaryFolder: string, onModelCall: () => void) {
  let files = 0;
  const config = {
    /** It is its own context, as the real one. */
    get config(): object {
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
      generateContent: () => {
        onModelCall();
        return Promise.resolve({ candidates: [{ content: { parts: [{ text: SUMMARY }] } }] });
      },
    }),
  };
  return { config, files: () => files };
}

const contentsOf = (kind: ConversationKind, messages: number) =>
  benchTurns(messages, kind).flatMap(({ user, contents }) => [user, ...contents]);

/** One whole compress(): all of it, and what of it lies before the first call of the model. */
async function compress(kind: ConversationKind, messages: number) {
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'recap-bench-gemini-cli-'));
  const before = process.cpuUsage();
  let beforeModelMs: number | undefined;
  const { config, files } = configurationOf(temporaryFolder, () => {
    const { user, system } = process.cpuUsage(before);
    beforeModelMs ??= (user + system) / 1_000;
  });
  try {
    const chat = new GeminiChat({ config, promptId: 'bench' }, '', [], contentsOf(kind, messages));
    const service = new ChatCompressionService();
    const startedAt = performance.now();
    const setUp = process.cpuUsage(before);
    const ms = await processorMs(async () => {
      const { info } = await service.compress(chat, 'bench', true, MODEL, config, false);
      if (info.compressionStatus !== COMPRESSED)
        throw new Error(`compress() ended with status ${info.compressionStatus}`);
    });
    const wallMs = performance.now() - startedAt;
    const setUpMs = (setUp.user + setUp.system) / 1_000;
    return { ms, wallMs, beforeModelMs: (beforeModelMs ?? Number.NaN) - setUpMs, files: files() };
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

servePeer({
  /** `KIND MESSAGES` */
  compress: (argument) => {
    const [kind, messages] = argument.split(' ');
    return compress(kind as ConversationKind, Number(messages));
  },
  /** `KIND MESSAGES`: the bare function that chooses the split point. */
  split: async (argument) => {
    const [kind, messages] = argument.split(' ');
    const contents = contentsOf(kind as ConversationKind, Number(messages));
    return { ms: await processorMs(() => findCompressSplitPoint(contents, SPLIT_FRACTION)) };
  },
  /** `KIND CHARACTERS TIMES`: the estimate of a text, so many times over. */
  estimate: async (argument) => {
    const [kind, characters, times] = argument.split(' ');
    const text = estimateText(kind as TextKind, Number(characters));
    const parts = [{ text }];
    let sum = 0;
    const ms = await processorMs(() => {
      for (let time = 0; time < Number(times); time++) sum += estimateTokenCountSync(parts);
    });
    if (sum === 0) throw new Error('nothing was estimated');
    return { ms, megabytes: megabytesOf(text) * Number(times) };
  },
});
