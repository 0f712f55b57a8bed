/**
 * The plan of each statement that this process runs on a database, with what it read, as Postgres tells it: by auto_explain,
 * which sees statements as the driver prepares them, in their roles, and those inside of functions and triggers.
 */
import { EventEmitter } from 'node:events';
import pg from 'pg';
import { asAdmin } from './admin.ts';
import { until } from './wait.ts';

export type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
};
export type Explained = { text: string; plan: PlanNode };

const listeners = new Set<(one: Explained) => void>();

/** Every notice of every client passes here; there is no other way to those of a pool that belongs to somebody else. */
function watchNotices(): void {
  if (Object.hasOwn(pg.Client.prototype, 'emit')) return;
  pg.Client.prototype.emit = function emit(this: pg.Client, name: string, ...values: unknown[]) {
    if (name === 'notice') told((values[0] as { message?: string }).message ?? '');
    return EventEmitter.prototype.emit.call(this, name, ...values);
  } as pg.Client['emit'];
}

function told(message: string): void {
  const at = message.indexOf('plan:\n');
  if (!message.startsWith('duration:') || at < 0) return;
  const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(at + 6)) as {
    'Query Text': string;
    Plan: PlanNode;
  };
  for (const listener of listeners) listener({ text, plan });
}

/**
 * From the next connection on: each statement is planned once for all values, which is what Postgres comes to on a connection that
 * has asked five times, and each is explained. Pages cost what they do by Postgres' defaults, not by those of our embedded one.
 */
export async function explainEverything(adminUrl: string): Promise<void> {
  watchNotices();
  const name = new URL(adminUrl.replace('@/', '@localhost/')).pathname.slice(1);
  for (const [setting, value] of Object.entries({
    plan_cache_mode: 'force_generic_plan',
    random_page_cost: '4',
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    'auto_explain.log_parameter_max_length': '0',
  }))
    await asAdmin(adminUrl, `alter database ${name} set ${setting} = '${value}'`);
}

/** What was run while something was done. */
export async function explaining(work: () => Promise<unknown>): Promise<Explained[]> {
  const all: Explained[] = [];
  const listener = (one: Explained) => void all.push(one);
  listeners.add(listener);
  try {
    await work();
  } finally {
    listeners.delete(listener);
  }
  return all;
}

/** Waits until statements were run that have this text, so many of them. */
export async function untilRun(text: string, count: number): Promise<void> {
  let seen = 0;
  const listener = (one: Explained) => {
    if (one.text.includes(text)) seen++;
  };
  listeners.add(listener);
  try {
    await until(`${text}, ${count} times`, () => seen >= count);
  } finally {
    listeners.delete(listener);
  }
}

/** A node of a plan and all below it. */
export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
