import { readFile, writeFile } from 'node:fs/promises';
import { createProgressBar } from '../replay/progress-bar.ts';
import { probeFigures, type ProbeResult, probeText } from './probe-figures.ts';
import { type ProbeBench, type Prepared, startProbeBench } from './probe-run.ts';
import { loadProbeScore, type ProbeScore } from './probe-score.ts';
import { type ChosenProbe, evenly } from './probe-selection.ts';
import { parseProbesArguments, type ProbesArguments, probesHelp } from './probes-arguments.ts';
import { parseRecordings, scriptOf } from '../replay/recording.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';
import { stableUuid } from '../stable-uuid.ts';
import { runEvalCommand } from '../run-eval-command.ts';

const write = (text: string): void => void process.stdout.write(text);
const maxPartBytes = 900_000;

async function prepareAll(bench: ProbeBench, file: string): Promise<Prepared[]> {
  const recordings = parseRecordings(await readFile(file, 'utf8')).filter(
    ({ probes = [] }) => probes.length > 0,
  );
  if (recordings.length === 0) throw new ArgumentError(`${file} holds no probes`);
  const scripts = recordings.map((recording) => scriptOf(recording, { maxPartBytes }));
  const total = 2 * scripts.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  const bar = createProgressBar({ total, isTerminal: process.stdout.isTTY, write });
  const prepared: Prepared[] = [];
  for (const [index, recording] of recordings.entries()) {
    const script = scripts[index];
    if (!script) continue;
    const conversationId = stableUuid(recording.id);
    const conversation = { recordingId: recording.id, conversationId, script };
    const each = await bench.prepare({ conversation, probes: recording.probes ?? [] }, (count) =>
      bar.advance(count, recording.id),
    );
    bar.print(
      `${each.id}: ${script.exchanges.length} turns, ${each.compactions} compactions, folded through turn ${each.foldedThrough}, ${each.probes.length} probes on folded turns`,
    );
    prepared.push(each);
  }
  bar.end();
  return prepared;
}

async function askOne(
  bench: ProbeBench,
  score: ProbeScore,
  { prepared, probe }: { prepared: Prepared; probe: ChosenProbe },
): Promise<ProbeResult> {
  const { id, category, question, answer: expected } = probe;
  const replies = {
    before: await bench.ask(prepared, 'before', probe),
    after: await bench.ask(prepared, 'after', probe),
    blanked: await bench.ask(prepared, 'blanked', probe),
  };
  const scores = {
    before: score(expected, replies.before),
    after: score(expected, replies.after),
    blanked: score(expected, replies.blanked),
  };
  return { conversation: prepared.id, id, category, question, expected, replies, scores };
}

async function runProbes(wanted: ProbesArguments): Promise<void> {
  const { score, name } = await loadProbeScore(wanted.survivalPath);
  const bench = await startProbeBench(wanted.thresholdTokens);
  try {
    const prepared = await prepareAll(bench, wanted.file);
    const asked = evenly(
      prepared.flatMap((each) => each.probes.map((one) => ({ prepared: each, probe: one }))),
      wanted.count,
    );
    write(`${asked.length} probes, scored by ${name}\n`);
    const bar = createProgressBar({
      total: asked.length,
      isTerminal: process.stdout.isTTY,
      write,
    });
    const results: ProbeResult[] = [];
    for (const each of asked) {
      results.push(await askOne(bench, score, each));
      bar.advance(1, each.probe.id);
    }
    bar.end();
    const figures = probeFigures(results);
    write(`${probeText(figures)}\n`);
    if (wanted.jsonPath !== undefined)
      await writeFile(
        wanted.jsonPath,
        `${JSON.stringify({ ...figures, results }, undefined, 2)}\n`,
      );
  } finally {
    await bench.stop();
  }
}

await runEvalCommand(async () => {
  const wanted = parseProbesArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${probesHelp}\n`);
  else await runProbes(wanted);
});
