/** How a room checks manifests of its kinds for `accord validate`: without a database, and as far as the given manifests tell. */
import type { Manifest, TenantSpec } from '../../crds/index.ts';
import type { Clock } from '../core/clock.ts';

/** Something that is wrong with a manifest (or, as a note, worth knowing), or the error that its action would be refused with. */
export type Fault =
  | {
      /** One of all kinds, or one that the kind states. */
      rule: string;
      message: string;
      /** The place in the manifest, such as /spec/rego; absent: the manifest as a whole. */
      pointer?: string;
      /** Of the text at the place. */
      line?: number;
      severity?: 'note';
    }
  | { rule: string; refusal: unknown };

/** What the manifests of a tenant define. */
export type GivenNames = {
  /** Whether the Tenant is among them. */
  readonly tenant: boolean;
  has(family: string, name: string): boolean;
  hasAny(family: string): boolean;
};

type AcceptanceContext<Of> = {
  /** Undefined where it is not among the manifests. */
  tenant: TenantSpec | undefined;
  /** Of this kind and tenant, before this one. */
  before: readonly Of[];
  /** ms */
  now: number;
};

export type CheckerOptions = {
  clock: Clock;
  /** All that are given and match their schemas, of every kind and tenant. */
  manifests: readonly Manifest[];
};

/** Checks one manifest after another; it may take long. */
export type Checker<Of> = { check(manifest: Of): Promise<Fault[]>; close(): Promise<void> };

export interface ManifestChecks<Of extends Manifest = Manifest> {
  /** The rules of its faults that not all kinds have, and when each is broken. */
  readonly rules?: Readonly<Record<string, string>>;
  /** The kinds that share their names with it, in words. @default its kind */
  readonly family?: string;
  /** Names that others may refer to, besides the one that it claims. */
  defines?(manifest: Of): readonly { family: string; name: string }[];
  /** What no two manifests of a tenant may have, besides a name. */
  unique?(manifest: Of): { value: string; message: string };
  /** What it refers to and no given manifest defines. */
  references?(manifest: Of, given: GivenNames): Fault[];
  /** What its tenant would refuse, or store otherwise. */
  acceptance?(manifest: Of, context: AcceptanceContext<Of>): Fault[];
  /** Made once for all kinds that state the same function. */
  checker?(options: CheckerOptions): Checker<Of>;
}

/** The refusal of an action as a fault of this rule. */
export function refusalBy(action: () => unknown, rule = 'refused'): Fault[] {
  try {
    action();
    return [];
  } catch (refusal) {
    return [{ rule, refusal }];
  }
}

/** A name that its tenant refuses unless there is one. @param kind in words */
export function unknownReference(pointer: string, kind: string, name: string): Fault {
  return { rule: 'unknown-reference', pointer, message: `there is no ${kind} ${name} in the files given` };
}
