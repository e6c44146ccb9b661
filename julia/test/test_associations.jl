# Supplemental attributes of components, and components that are parts of others.

include("common.jl")

const GENERATOR = Owner(1, "Generator")
const STORAGE = Owner(2, "Storage")
const OUTAGE = Owner(7, "Outage"; category = :attribute)
const PRICE = Owner(8, "Price"; category = :attribute)
const PLANT = Owner(100, "Plant")

function each_store(f)
    memory_store(f)
    create_store(f, joinpath(mktempdir(), "s.nc"))
    return nothing
end

@testset "attributes of components" begin
    each_store() do store
        @test Forcings.attached(store, 1) == []
        Forcings.attach!(store, GENERATOR, PRICE)
        Forcings.attach!(store, [GENERATOR => OUTAGE, STORAGE => OUTAGE])
        @test Forcings.attachments(store) ==
            [
                (component_id = 1, component_type = "Generator", attribute_id = 8, attribute_type = "Price"),
                (component_id = 1, component_type = "Generator", attribute_id = 7, attribute_type = "Outage"),
                (component_id = 2, component_type = "Storage", attribute_id = 7, attribute_type = "Outage"),
            ]
        @test Forcings.attached(store, GENERATOR) == [(id = 8, type = "Price"), (id = 7, type = "Outage")]
        @test Forcings.attached(store, 1; type = "Outage") == [(id = 7, type = "Outage")]
        @test [a.id for a in Forcings.attached(store)] == [8, 7]
        @test [a.id for a in Forcings.attached(store; component_type = ["Storage", "Load"])] == [7]
        @test Forcings.components_with(store, OUTAGE) == [(id = 1, type = "Generator"), (id = 2, type = "Storage")]
        @test [c.id for c in Forcings.components_with(store, 7; type = "Storage")] == [2]
        @test [c.id for c in Forcings.components_with(store; attribute_type = :Price)] == [1]
        @test Forcings.isattached(store, GENERATOR, OUTAGE) && !Forcings.isattached(store, 2, 8)
        @test Forcings.count_attachments(store) == 3
        @test Forcings.count_attachments(store; attribute = OUTAGE, component_type = "Storage") == 1
        @test Forcings.count_attachments(store; attribute_type = String[]) == 0
        @test Forcings.attachment_types(store) ==
            (components = ["Generator", "Storage"], attributes = ["Outage", "Price"])
        @test Forcings.attachment_types(store; attribute = PRICE).components == ["Generator"]
        @test Forcings.links(store) == []

        @test Forcings.replace_attribute!(store, 7, 70) == 2
        @test Forcings.replace_attribute!(store, OUTAGE, 71) == 0
        @test Forcings.detach!(store, GENERATOR, 70) == 1
        @test Forcings.detach!(store, GENERATOR, 70) == 0
        @test Forcings.detach!(store; component_type = "Storage") == 1
        @test Forcings.detach!(store, :) == 1
        @test Forcings.attachments(store) == []
    end
end

@testset "children and parents" begin
    each_store() do store
        Forcings.link!(store, PLANT, GENERATOR)
        Forcings.link!(store, [PLANT => STORAGE, Owner(200, "Region") => PLANT, GENERATOR => PLANT])
        @test Forcings.children(store, PLANT) == [(id = 1, type = "Generator"), (id = 2, type = "Storage")]
        @test Forcings.children(store, 100; type = "Storage") == [(id = 2, type = "Storage")]
        @test [c.id for c in Forcings.children(store; parent_type = "Region")] == [100]
        @test [p.id for p in Forcings.parents(store, PLANT)] == [200, 1]
        @test [p.id for p in Forcings.parents(store, 100; type = "Region")] == [200]
        @test [p.id for p in Forcings.parents(store; child_type = "Generator")] == [100]
        @test Forcings.links(store; parent = PLANT, child = 1) ==
            [(parent_id = 100, parent_type = "Plant", child_id = 1, child_type = "Generator")]
        @test Forcings.islinked(store, PLANT, GENERATOR) && Forcings.islinked(store, GENERATOR, PLANT)
        @test !Forcings.islinked(store, STORAGE, PLANT)
        @test Forcings.count_links(store) == 4
        @test Forcings.link_types(store; parent = 100) == (parents = ["Plant"], children = ["Generator", "Storage"])

        Forcings.attach!(store, PLANT, OUTAGE)
        @test Forcings.replace_component!(store, 100, 101) == (attachments = 1, links = 4)
        @test [c.id for c in Forcings.children(store, 101)] == [1, 2]
        @test Forcings.unlink!(store, 101, GENERATOR) == 1
        @test Forcings.unlink!(store; child_type = ["Plant"]) == 2
        @test Forcings.unlink!(store, :) == 1
        @test Forcings.count_attachments(store) == 1
    end
end

@testset "all or none" begin
    each_store() do store
        Forcings.link!(store, PLANT, GENERATOR)
        pairs = [PLANT => STORAGE, (PLANT, Owner(1, "Renamed"))]
        @test refuses(() -> Forcings.link!(store, pairs), Forcings.DuplicateAssociationError, "1", "100")
        @test Forcings.count_links(store) == 1
        Forcings.link!(store, Owner(101, "Plant"), GENERATOR)
        Forcings.attach!(store, PLANT, OUTAGE)
        @test refuses(() -> Forcings.replace_component!(store, 100, 101), Forcings.DuplicateAssociationError, "100")
        @test Forcings.isattached(store, 100, 7)
        @test [p.id for p in Forcings.parents(store, 1)] == [100, 101]
        @test thrown(() -> transaction(s -> (Forcings.unlink!(s, :); error("undo")), store)) isa ErrorException
        @test Forcings.count_links(store) == 2
        Forcings.attach!(store, [])
    end
end

@testset "what is refused" begin
    memory_store() do store
        @test refuses(() -> Forcings.attach!(store, OUTAGE, GENERATOR), Forcings.InvalidParameterError, ":component")
        @test refuses(() -> Forcings.attach!(store, GENERATOR, STORAGE), Forcings.InvalidParameterError, ":attribute")
        @test refuses(() -> Forcings.attach!(store, [1 => 7]), Forcings.InvalidParameterError, "component => attribute")
        @test refuses(() -> Forcings.link!(store, [PLANT]), Forcings.InvalidParameterError, "parent => child")
        @test refuses(() -> Forcings.children(store, OUTAGE), Forcings.InvalidParameterError, "parent")
        @test refuses(() -> Forcings.children(store, "Plant"), Forcings.InvalidParameterError, "Owner or an id")
        @test refuses(() -> Forcings.children(store; type = 5), Forcings.InvalidParameterError, "vector of texts")
        @test refuses(() -> Forcings.detach!(store), Forcings.InvalidParameterError, "detach!(store, :)")
        @test refuses(
            () -> Forcings.unlink!(store; parent = nothing),
            Forcings.InvalidParameterError,
            "unlink!(store, :)",
        )
        @test refuses(() -> Forcings.replace_component!(store, OUTAGE, 2), Forcings.InvalidParameterError)
        @test_throws MethodError Forcings.attachments(store; parent = 1)
    end
end

@testset "series and associations leave each other alone" begin
    path = joinpath(mktempdir(), "s.nc")
    create_store(path) do store
        add!(store, OUTAGE, SingleTimeSeries("rate", DateTime(2030), Hour(1), rand(24)))
        Forcings.attach!(store, GENERATOR, OUTAGE)
        Forcings.clear!(store)
        @test Forcings.count_attachments(store) == 1
        add!(store, OUTAGE, SingleTimeSeries("rate", DateTime(2030), Hour(1), rand(24)))
        Forcings.detach!(store, :)
        Forcings.link!(store, PLANT, GENERATOR)
    end
    open_store(path; read_only = true) do store
        @test length(list_series(store)) == 1
        @test Forcings.attachments(store) == []
        @test Forcings.islinked(store, PLANT, GENERATOR)
    end
end
