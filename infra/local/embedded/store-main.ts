import { sweepEvent } from '#shared/compaction/event.ts';
import { startSweepSchedule } from '../sweep-schedule.ts';
import { createMemoryDocumentStore } from './memory-document-store.ts';
import { serveStore } from './store-server.ts';
import { createWorkerBus } from './worker-bus.ts';
import { parseArgs } from 'node:util';

/*
 * Store and bus as a process of their own, so that the functions can be killed without them:
 * `node infra/local/embedded/store-main.ts --port N --compaction-url URL [--push JSON] [--sweep-seconds N]`, with the
 * token of those who may use them in RECAP_STORE_TOKEN.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'compaction-url': { type: 'string', default: '' },
    push: { type: 'string', default: '{}' },
    'sweep-seconds': { type: 'string', default: '0' },
  },
});

const bus = createWorkerBus(process.env, values['compaction-url'], JSON.parse(values.push));
await serveStore({
  store: createMemoryDocumentStore(),
  bus,
  token: process.env['RECAP_STORE_TOKEN'] ?? '',
  port: Number(values.port),
});
startSweepSchedule({
  everySeconds: Number(values['sweep-seconds']),
  publish: () => bus.publish({ topic: 'compaction', data: sweepEvent }),
});
process.once('SIGTERM', () => process.exit(0));
