import { useEffect } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { selectToolTexts } from '#web/text/tools/tool-texts.ts';
import { perApp } from '../per-app.ts';
import { FaultCard } from './fault-card.tsx';
import { faultNames } from './fault-list.ts';
import { createFaultRunner, findHindrance, type FaultRunner } from './fault-runner.ts';
import { createSupervisor } from './supervisor.ts';

/** Runs go on while another tab is shown. */
const runnerOf = perApp((app): FaultRunner | undefined => {
  const { supervisor } = app.config;
  if (!supervisor) return undefined;
  const titleOf = (name: (typeof faultNames)[number]) =>
    selectToolTexts(app.settings.language.value).faults.names[name].title;
  return createFaultRunner(app, createSupervisor(supervisor, fetch.bind(globalThis)), titleOf);
});

/** What can go wrong, to be tried and judged. */
export function FaultsTab({ app }: { app: App }) {
  const texts = selectToolTexts(app.settings.language.value).faults;
  const runner = runnerOf(app);
  useEffect(() => void runner?.look(), [runner]);
  if (!runner) return <p class="tool quiet">{texts.absent}</p>;
  const state = runner.supervisor.value;
  const possible = faultNames.filter((name) => state && findHindrance(name, state) === undefined);
  const isRunning = runner.running.value !== undefined;
  const { count } = app.figures.value;
  const judged = faultNames.flatMap((name) => {
    const found = runner.stateOf(name);
    return found.phase === 'judged' ? [found.verdict.outcome === 'held'] : [];
  });
  const waiting = state?.model?.waitingFaults ?? 0;
  return (
    <div class="tool faults">
      <p class="quiet">{texts.intro}</p>
      <div class="tool-bar">
        <button
          type="button"
          class="button small"
          disabled={isRunning || possible.length === 0}
          onClick={() => void runner.run(possible)}
        >
          {texts.runAll}
        </button>
        <button type="button" class="button small" onClick={() => void runner.reset()}>
          {texts.reset}
        </button>
        {judged.length > 0 && (
          <span role="status" class="figure">
            {texts.sum(count(judged.filter((held) => held).length), count(judged.length))}
          </span>
        )}
        {waiting > 0 && !isRunning && (
          <span class="quiet">{texts.armed(app.figures.value.count(waiting))}</span>
        )}
      </div>
      {runner.problem.value !== undefined && (
        <p class="problem" role="alert">
          {runner.problem.value}
        </p>
      )}
      <ul class="fault-list">
        {faultNames.map((name) => (
          <FaultCard
            key={name}
            app={app}
            name={name}
            runner={runner}
            hindrance={state && findHindrance(name, state)}
          />
        ))}
      </ul>
    </div>
  );
}
