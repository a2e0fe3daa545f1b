import { describe, expect, it } from "vitest";
import { CancelControl, controlBlock, DriverControl } from "./control.ts";

describe("DriverControl and CancelControl", () => {
  it("let exactly as many messages through as there are credits, and then those that are added", () => {
    const { driver, main } = controls();
    main.reset(2);
    expect([driver.takeCredit(), driver.takeCredit()]).toEqual([true, true]);
    main.addCredit();
    expect(driver.takeCredit()).toBe(true);
    main.cancel(() => {});
    expect(driver.takeCredit()).toBe(false);
  });

  it("call cancel with the target while the driver is at work, and never before or after", () => {
    const { driver, main } = controls();
    const targets: number[] = [];
    const cancel = (target: number): void => void targets.push(target);
    main.reset(1);
    main.cancel(cancel);
    driver.begin(0x7fff_1234_5678);
    main.cancel(cancel);
    driver.end();
    main.cancel(cancel);
    expect(targets).toEqual([0x7fff_1234_5678]);
  });

  it("let the driver go on at once after a cancel, also one that threw", () => {
    const { driver, main } = controls();
    main.reset(1);
    driver.begin(8);
    const thrown = (): void => {
      throw new Error("the driver refused");
    };
    expect(() => main.cancel(thrown)).toThrow("the driver refused");
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
