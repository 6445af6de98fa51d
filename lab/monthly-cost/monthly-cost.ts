import { findPrice } from '#shared/models/find-price.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { cloudPrices } from '../cost/cloud-prices.ts';
import { defaultSweepSeconds } from '#infra/local/sweep-schedule.ts';
import { documentCounts, type DocumentCounts } from './document-counts.ts';

/**
 * List prices of us-central1 in US dollars, November 2026, as public pages quote them; they change, and the
 * bill is what counts. Free allowances are left out but where one is named.
 */
const unitPrices = {
  cpuSecond: { usd: 0.000024, of: 'a vCPU-second of a function that serves a request' },
  memoryGibSecond: { usd: 0.0000025, of: 'a GiB-second of memory' },
  idleCpuSecond: { usd: 0.0000025, of: 'a vCPU-second of a minimum instance that serves nothing' },
  request: { usd: 0.4e-6, of: 'a request' },
  documentRead: { usd: cloudPrices.perRead, of: 'a document read' },
  documentWrite: { usd: cloudPrices.perWrite, of: 'a document written' },
  documentDelete: { usd: cloudPrices.perDelete, of: 'a document deleted, by a TTL policy too' },
  databaseGibMonth: {
    usd: 0.15,
    of: 'a GiB in the database for a month; the same again for point-in-time recovery',
  },
  backupGibMonth: { usd: 0.03, of: 'a GiB of backups for a month' },
  message: { usd: cloudPrices.perMessage, of: 'a message of Pub/Sub, published or pushed' },
  logGib: { usd: 0.5, of: 'a GiB of logs' },
  egressGib: { usd: 0.12, of: 'a GiB to the internet' },
  alertCondition: { usd: 0.1, of: 'an alert condition for a month' },
  secretVersion: { usd: 0.06, of: 'a version of a secret for a month' },
  schedulerJob: { usd: 0.1, of: 'a schedule for a month' },
  imageGibMonth: { usd: 0.1, of: 'a GiB of images for a month' },
} as const;

/** What is assumed of one daily user and of the deployment; put in your own. */
export const assumed = {
  daysPerMonth: 30,
  turnsPerUserDay: 10,
  turnsPerCompaction: 50,
  /** Shares of turns that meet an instance without the conversation in memory. */
  coldShare: 0.5,
  answerSeconds: 6,
  compactionSeconds: 25,
  sweepSeconds: 0.5,
  promptTokens: 8_000,
  cachedShare: 0.5,
  answerTokens: 300,
  foldedTokens: 24_000,
  summaryTokens: 1_500,
  storedKibPerTurn: 4,
  keptMonths: 12,
  backups: 15,
  logKibPerTurn: 2,
  egressKibPerTurn: 12,
  memoryGib: 0.5,
} as const;

/** Daily users, and how many answers an instance writes at once on average: more users, fuller instances. */
export const sizes = [
  { users: 1_000, atOnce: 2 },
  { users: 100_000, atOnce: 10 },
  { users: 1_000_000, atOnce: 20 },
] as const;

/** The default of the setting `MODEL`. */
const MODEL = 'gemini-3.8-flash';
/** Its introductory price ends with 2026. */
const lasting = { ...verifiedModels, now: new Date('2027-01-01') };

const KIB_PER_GIB = 1024 * 1024;

export interface MonthlyCost {
  firestoreOperations: number;
  firestoreStorage: number;
  functions: number;
  rest: number;
  modelChat: number;
  modelCompactions: number;
}

/** US dollars a month for so many daily users; docs/operations.md shows what comes of it. */
export function monthlyCost(
  { users, atOnce }: { users: number; atOnce: number },
  counts: DocumentCounts,
): MonthlyCost {
  const price = unitPrices;
  const turns = users * assumed.turnsPerUserDay * assumed.daysPerMonth;
  const compactions = turns / assumed.turnsPerCompaction;
  const model = findPrice(MODEL, lasting);
  const { turn, elsewhere, compaction } = counts;
  const reads =
    turns * (turn.reads + assumed.coldShare * (elsewhere.reads - turn.reads)) +
    compactions * compaction.reads;
  const writes = turns * turn.writes + compactions * compaction.writes;
  const deletes = turns * turn.expiring;
  const storedGib = (turns * assumed.keptMonths * assumed.storedKibPerTurn) / KIB_PER_GIB;
  const busySeconds =
    (turns * assumed.answerSeconds) / atOnce + (compactions * assumed.compactionSeconds) / 2;
  const cached = assumed.promptTokens * assumed.cachedShare;
  return {
    firestoreOperations:
      reads * price.documentRead.usd +
      writes * price.documentWrite.usd +
      deletes * price.documentDelete.usd,
    firestoreStorage:
      storedGib * (2 * price.databaseGibMonth.usd + assumed.backups * price.backupGibMonth.usd),
    functions:
      busySeconds * (price.cpuSecond.usd + assumed.memoryGib * price.memoryGibSecond.usd) +
      (turns + compactions) * price.request.usd,
    rest:
      (turns *
        (assumed.logKibPerTurn * price.logGib.usd +
          assumed.egressKibPerTurn * price.egressGib.usd)) /
        KIB_PER_GIB +
      2 * compactions * compaction.messages * price.message.usd,
    modelChat:
      (turns *
        ((assumed.promptTokens - cached) * model.input +
          cached * model.cached +
          assumed.answerTokens * model.output)) /
      1e6,
    modelCompactions:
      (compactions * (assumed.foldedTokens * model.input + assumed.summaryTokens * model.output)) /
      1e6,
  };
}

const SECONDS_PER_MONTH = 30 * 86_400;

/** The schedule's, one in five minutes. */
export const sweepsPerMonth = SECONDS_PER_MONTH / defaultSweepSeconds;

/** US dollars of all sweeps of a month that find nothing to do. */
function costOfSweeps(): number {
  const price = unitPrices;
  const second = price.cpuSecond.usd + assumed.memoryGib * price.memoryGibSecond.usd;
  // Published and pushed.
  const event = 2 * price.message.usd + price.request.usd;
  const reads = documentCounts.sweep.reads * price.documentRead.usd;
  return sweepsPerMonth * (assumed.sweepSeconds * second + event + reads);
}

/** US dollars a month before anybody sends anything, with `minInstances` of chat. */
export function costAtRest(minInstances: number, alertConditions: number): Record<string, number> {
  const price = unitPrices;
  const idle = price.idleCpuSecond.usd + assumed.memoryGib * price.memoryGibSecond.usd;
  return {
    minimumInstances: minInstances * SECONDS_PER_MONTH * idle,
    alertConditions: alertConditions * price.alertCondition.usd,
    secretVersions: price.secretVersion.usd,
    schedule: price.schedulerJob.usd,
    sweeps: costOfSweeps(),
    images: price.imageGibMonth.usd,
  };
}
