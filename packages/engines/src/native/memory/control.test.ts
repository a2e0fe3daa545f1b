import { describe, expect, it } from "vitest";
import { CancelControl, controlBlock, DriverControl } from "./control.ts";

describe("DriverControl and CancelControl", () => {
  it("let exactly as many messages through as there are credits, and then those that are added", () => {
    const { driver, main } = controls();
    const turn = main.reset(2);
    expect([driver.takeCredit(), driver.takeCredit()]).toEqual([true, true]);
    main.addCredit();
    expect(driver.takeCredit()).toBe(true);
    main.cancel(turn, () => {});
    expect(driver.takeCredit()).toBe(false);
  });

  it("remember a cancel that came before its request, and ignore one that came after it", () => {
    const { driver, main } = controls();
    const targets: number[] = [];
    const cancel = (target: number): void => void targets.push(target);
    main.cancel(2, cancel);
    driver.enter(1);
    expect(driver.cancelled).toBe(false);
    driver.begin(8);
    main.cancel(2, cancel);
    driver.end();
    driver.enter(2);
    expect([driver.cancelled, targets]).toEqual([true, []]);
    driver.enter(3);
    driver.begin(16);
    main.cancel(2, cancel);
    expect([driver.cancelled, targets]).toEqual([false, []]);
    main.cancel(3, cancel);
    driver.end();
    expect([driver.cancelled, targets]).toEqual([true, [16]]);
  });

  it("call cancel with the target while the driver is at work, and never before or after", () => {
    const { driver, main } = controls();
    const targets: number[] = [];
    const cancel = (target: number): void => void targets.push(target);
    const turn = main.reset(1);
    main.cancel(turn, cancel);
    driver.begin(0x7fff_1234_5678);
    main.cancel(turn, cancel);
    driver.end();
    main.cancel(turn, cancel);
    expect(targets).toEqual([0x7fff_1234_5678]);
  });

  it("let the driver go on at once after a cancel, also one that threw", () => {
    const { driver, main } = controls();
    const turn = main.reset(1);
    driver.begin(8);
    const thrown = (): void => {
      throw new Error("the driver refused");
    };
    expect(() => main.cancel(turn, thrown)).toThrow("the driver refused");
    driver.end();
    expect(driver.cancelled).toBe(true);
    main.reset(1);
    expect(driver.cancelled).toBe(false);
  });
});

function controls() {
  const block = controlBlock();
  return { driver: new DriverControl(block), main: new CancelControl(block) };
}
